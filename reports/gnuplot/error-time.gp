set xlabel "wall time since the step began (ms)"
set ylabel "solver's own residual"
set logscale y
set format y "10^{%L}"
set xrange [0:*]
plot for [i=0:series-1] data index i using 1:2 with linespoints ls (i%styles)+1 title columnheader(2)
