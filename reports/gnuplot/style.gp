# Looks shared by every plot. The lines above this one name data, output, title and the series.
set terminal svg size 760,440 dynamic enhanced font "Arial,13" background rgb "white"
set output output
set title title noenhanced font ",15"
set key tmargin center horizontal maxcols 3 width 1 noenhanced samplen 2 spacing 1.1 font ",11"
set grid lc rgb "#e2e6ea" lt 1
set border 3 lc rgb "#6b7280"
set tics nomirror textcolor rgb "#374151"
set style line 1 lc rgb "#2563eb" lw 2 pt 7 ps 0.45
set style line 2 lc rgb "#dc2626" lw 2 pt 5 ps 0.45
set style line 3 lc rgb "#059669" lw 2 pt 9 ps 0.5
set style line 4 lc rgb "#d97706" lw 2 pt 13 ps 0.5
set style line 5 lc rgb "#7c3aed" lw 2 pt 11 ps 0.5
set style line 6 lc rgb "#0891b2" lw 2 pt 4 ps 0.45
set style line 7 lc rgb "#be185d" lw 2 pt 6 ps 0.45
set style line 8 lc rgb "#4d7c0f" lw 2 pt 8 ps 0.5
set datafile missing "nan"
