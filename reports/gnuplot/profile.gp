# Blocks of a profile: x, mean share, least and most over the seeds.
set xlabel xname noenhanced
set ylabel "share of the problems"
set logscale x
set autoscale xfix
eval tics125("x")
set yrange [-0.02:1.05]
set key maxcols 2
plot for [i=0:series-1] data index i using 1:3:4 with filledcurves lc rgb word(colors,i%styles+1) fs transparent solid 0.18 noborder notitle, \
     for [i=0:series-1] data index i using 1:2 with lines ls (i%styles)+1 title columnheader(2)
