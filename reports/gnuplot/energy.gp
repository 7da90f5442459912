# A block an energy of a run: the colour is the run's (hues, runs), the dashes are the kind's (dashes; kinds, kind_dashes).
set xlabel "simulated time (s)"
set ylabel "energy (J)"
plot for [i=0:series-1] data index i using 1:2 with lines lw 2 dt int(word(dashes,i+1)) \
       lc rgb word(colors,(int(word(hues,i+1))-1)%styles+1) notitle, \
     for [r=1:words(runs)] keyentry with lines lw 2 lc rgb word(colors,(r-1)%styles+1) \
       title word(runs,r), \
     for [k=1:words(kinds)] keyentry with lines lw 2 lc rgb "#6b7280" \
       dt int(word(kind_dashes,k)) title word(kinds,k)
