set xlabel "budget (% of the time of a full factorization)"
set ylabel "wall time a step (ms)"
set xrange [0:*]
set yrange [0:*]
plot for [i=0:series-1] data index i using 1:2 with linespoints ls (i%styles)+1 ps 1 title columnheader(2)
