# Looks shared by every plot. The lines above this one name data, output, title, the series and the height.
set terminal svg size 760,height dynamic enhanced font "Arial,13" background rgb "white"
set output output
set title title noenhanced font ",15"
set key tmargin center horizontal maxcols 3 width 1 noenhanced samplen 2 spacing 1.1 font ",11"
set grid lc rgb "#e2e6ea" lt 1
set border 3 lc rgb "#6b7280"
set tics nomirror textcolor rgb "#374151"
colors = "#2563eb #dc2626 #059669 #d97706 #7c3aed #0891b2 #be185d #4d7c0f #9ca3af #facc15 #78350f #f472b6"
styles = words(colors)
set style line 1 lc rgb word(colors,1) lw 2 pt 7 ps 0.45
set style line 2 lc rgb word(colors,2) lw 2 pt 5 ps 0.45
set style line 3 lc rgb word(colors,3) lw 2 pt 9 ps 0.5
set style line 4 lc rgb word(colors,4) lw 2 pt 13 ps 0.5
set style line 5 lc rgb word(colors,5) lw 2 pt 11 ps 0.5
set style line 6 lc rgb word(colors,6) lw 2 pt 4 ps 0.45
set style line 7 lc rgb word(colors,7) lw 2 pt 6 ps 0.45
set style line 8 lc rgb word(colors,8) lw 2 pt 8 ps 0.5
set style line 9 lc rgb word(colors,9) lw 2 pt 10 ps 0.5
set style line 10 lc rgb word(colors,10) lw 2 pt 12 ps 0.5
set style line 11 lc rgb word(colors,11) lw 2 pt 3 ps 0.5
set style line 12 lc rgb word(colors,12) lw 2 pt 2 ps 0.5
set datafile missing "nan"
# Stages have colours of their own: those of the phases in their order; grey is the time in none.
stage_colors = "#2563eb #dc2626 #84cc16 #059669 #1e3a8a #78350f #f59e0b #7c3aed #0891b2 #be185d #4d7c0f #fde047 #14b8a6 #f9a8d4 #fb923c #a78bfa #334155 #d946ef"
phase(column) = int(word(stages, column))
stage(column) = phase(column) == 0 ? "#9ca3af" : word(stage_colors, (phase(column)-1)%words(stage_colors)+1)
# eval tics125("x"): tics at 1, 2 and 5 of every decade, for logarithmic axes that are often shorter than one.
tics125(axis) = sprintf('set %stics (); set rmargin 4; do for [e=-12:12] { do for [m in "1 2 5"] { set %stics add (sprintf("%%g", m*10.0**e) m*10.0**e) } }', axis, axis)
