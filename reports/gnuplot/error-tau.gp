set xlabel "threshold tau (kg m/s)"
set ylabel "RMS position error / diagonal of the scene"
set logscale xy
set format xy "10^{%L}"
set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
plot for [i=0:series-1] data index i using 1:2 with linespoints ls (i%styles)+1 ps 1 title columnheader(2)
