# Blocks of points; the axes' names and kinds are given.
set xlabel xname noenhanced
set ylabel yname noenhanced
set format "%g"
# What cannot be negative, as a number of iterations, has an axis that is not.
stats data using 2 nooutput
if (STATS_min >= 0 && !logy) { set yrange [0<*:*] }
if (logx) set logscale x; set format x "10^{%L}"; set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
if (!logx) set autoscale xfix; set offsets 0, 0, graph 0.05, graph 0.05
if (logy) set logscale y; set format y "10^{%L}"
plot for [i=0:series-1] data index i using 1:2 with linespoints ls (i%styles)+1 ps (logx ? 1 : 0) title columnheader(2)
