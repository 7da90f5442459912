# Blocks of one point: x, y, words beside it. symbols: one a block; classes: their names, class_symbols: theirs; edges: exponents of the edges between bands, or "".
set xlabel "median wall time a step (ms)"
set ylabel yname noenhanced
set logscale xy
set format y "10^{%L}"
set offsets graph 0.15, graph 0.15, graph 0.15, graph 0.15
set key maxcols 2
stats data using 2 nooutput
do for [exponent in edges] {
  edge = 10.0**int(exponent)
  if (edge > STATS_min/10 && edge < 10*STATS_max) {
    set arrow from graph 0, first edge to graph 1, first edge nohead lc rgb "#9ca3af" dt 2
  }
}
plot for [i=0:series-1] data index i using 1:2 with points pt int(word(symbols,i+1)) \
       lc rgb word(colors,i%styles+1) lw 1.5 ps 1.3 title columnheader(2), \
     for [i=0:series-1] data index i using 1:2:3 with labels center offset 0,-1 noenhanced \
       font ",10" tc rgb word(colors,i%styles+1) notitle, \
     for [c=1:words(classes)] keyentry with points pt int(word(class_symbols,c)) lc rgb "#6b7280" \
       ps 1.1 title word(classes,c)
