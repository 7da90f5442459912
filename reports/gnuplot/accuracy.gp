set xlabel "median wall time a step (ms)"
set ylabel "median audited residual / force scale"
set logscale xy
set format y "10^{%L}"
set offsets graph 0.15, graph 0.15, graph 0.15, graph 0.15
plot for [i=0:series-1] data index i using 1:2 with points ls (i%styles)+1 ps 1.4 title columnheader(2)
