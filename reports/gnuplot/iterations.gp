set xlabel "simulated time (s)"
set ylabel "iterations a step"
set logscale y
set yrange [0.8:*]
plot for [i=0:series-1] data index i using 1:2 with lines ls (i%styles)+1 title columnheader(2)
