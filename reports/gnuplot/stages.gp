# Column 1: simulated time; 2: share of elements updated; from 3 on: stages, stacked from the bottom.
stats data using 2 skip 1 nooutput
most = STATS_max > 0 ? STATS_max : 1
decade = 10**floor(log10(most))
apart = most >= 5*decade ? 2*decade : most >= 2*decade ? decade : decade/2
set multiplot
set lmargin at screen 0.09
set rmargin at screen 0.83
set tmargin at screen 0.90
set bmargin at screen 0.68
set format x ""
set ylabel "updated (%)"
set yrange [0:*]
set ytics 0,apart font ",11"
plot data using 1:2 skip 1 with fillsteps lc rgb "#f97316" fs solid 0.55 noborder notitle
unset title
set tmargin at screen 0.62
set bmargin at screen 0.13
set format x "%g"
set ytics autofreq font ",13"
set xlabel "simulated time (s)"
set ylabel "wall time a step (ms)"
set key at screen 0.84,0.62 left top Left reverse vertical maxcols 1 noenhanced samplen 1.5 spacing 1.15 font ",11"
stacked(c) = sum [k=3:c] column(k)
plot for [c=series+2:3:-1] data using 1:(stacked(c)) with fillsteps \
  lc rgb stage(c-2) fs solid 0.9 noborder title columnheader(c)
unset multiplot
