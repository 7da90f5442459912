# Blocks of trials: x, error, least and most x. fronts, trials, doubtful: numbers of the blocks of each kind; hues: a line style a block; resolved: errors below it are
# not resolved.
set xlabel xname noenhanced
set ylabel "error, of the motion"
set logscale xy
eval tics125("x")
eval tics125("y")
set offsets graph 0.05, graph 0.05, graph 0.08, graph 0.08
set autoscale xfix
set autoscale yfix
stats data using 2 nooutput
floor = resolved > STATS_min/30 ? resolved : NaN
if (!exists("fronts")) fronts = ""
if (!exists("trials")) trials = ""
if (!exists("doubtful")) doubtful = ""
block(list, k) = k > words(list) ? 0 : int(word(list, k)) # options are looked at once where a list is empty
hue(list, k) = int(word(hues, block(list, k)+1))
plot for [k=1:words(fronts)] data index block(fronts,k) using 1:2 with linespoints ls hue(fronts,k) ps 0.9 title columnheader(2), \
     for [k=1:words(trials)] data index block(trials,k) using 1:2:3:4 with xerrorbars ls hue(trials,k) lw 0.8 pt 6 ps 0.5 notitle, \
     for [k=1:words(doubtful)] data index block(doubtful,k) using 1:2 with points ls hue(doubtful,k) pt 1 ps 0.8 title columnheader(2), \
     floor with lines lc rgb "#9ca3af" dt 2 title (floor > 0 ? "not resolved below" : "")
