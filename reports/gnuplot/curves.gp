# Blocks of points; the axes' names and kinds are given.
set xlabel xname noenhanced
set ylabel yname noenhanced
if (logx) set logscale x; set format x "10^{%L}"
if (logy) set logscale y; set format y "10^{%L}"
if (!logx) set format x "%g"
set offsets graph 0.02, graph 0.02, graph 0.05, graph 0.05
plot for [i=0:series-1] data index i using 1:2 with linespoints ls (i%styles)+1 ps (logx ? 1 : 0) title columnheader(2)
