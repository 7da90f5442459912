# Column 1: name of the bar; from 2 on: its layers, stacked from the bottom.
set ylabel yname noenhanced
set yrange [0:*]
set style data histograms
set style histogram rowstacked
set boxwidth 0.7
set xtics noenhanced
plot for [c=2:series+1] data using c:xtic(1) lc rgb word(colors, (c-2)%words(colors)+1) \
  fs solid 0.9 noborder title columnheader(c)
