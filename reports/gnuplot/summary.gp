set ylabel "median wall time a step (ms)"
set logscale y
set style data histograms
set style histogram clustered gap 1.5
set style fill solid 0.9 border rgb "white"
set xtics rotate by -25 noenhanced font ",9"
plot for [c=2:series+1] data using c:xtic(1) ls (c-2)%styles+1 title columnheader(c)
