set xlabel "simulated time (s)"
set ylabel yname noenhanced
set logscale y
set format y "10^{%L}"
plot for [i=0:series-1] data index i using 1:2 with lines ls (i%styles)+1 title columnheader(2)
