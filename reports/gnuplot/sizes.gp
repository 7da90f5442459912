set xlabel "simulated time (s)"
set ylabel "number"
set yrange [0:*]
set offsets 0, 0, graph 0.05, 0
plot for [i=0:series-1] data index i using 1:2 with steps ls (i%styles)+1 title columnheader(2)
