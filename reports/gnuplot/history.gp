# A series by number of the record, its levels, and where they change.
set xlabel xname noenhanced
set ylabel yname noenhanced
set format y "%g"
set autoscale xfix
set offsets graph 0.02, graph 0.02, graph 0.12, graph 0.06
plot data index 0 using 1:2 with linespoints ls 1 lw 1 title columnheader(2), \
     data index 1 using 1:2 with lines ls 2 title columnheader(2), \
     for [i=2:series-1] data index i using 1:2:3 with labels left offset 0.4,0.7 point ls 2 ps 0.8 noenhanced font ",11" title columnheader(2)
