set xlabel "simulated time (s)"
set ylabel "wall time a step (ms)"
set logscale y
plot for [i=0:series-1] data index i using 1:2 with lines ls (i%styles)+1 title columnheader(2)
