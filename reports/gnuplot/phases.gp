set ylabel "mean wall time a step (ms)"
set style data histograms
set style histogram rowstacked
set style fill solid 0.9 border rgb "white"
set boxwidth 0.6
set xtics rotate by -20 noenhanced font ",11"
set yrange [0:*]
plot for [c=2:series+1] data using c:xtic(1) lc rgb stage(c-1) title columnheader(c)
