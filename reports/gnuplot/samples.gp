# Blocks of samples, and after each one of its samples that are marked.
set xlabel xname noenhanced
set ylabel yname noenhanced
set logscale y
set format y "10^{%L}"
set xrange [0:*]
plot for [i=0:series-1:2] data index i using 1:2 with lines ls (i/2%styles)+1 title columnheader(2), \
     for [i=1:series-1:2] data index i using 1:2 with points ls (i/2%styles)+1 pt 6 ps 1.2 title columnheader(2)
