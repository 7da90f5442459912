# make -f results/elasticity/build.mk: build/elasticity-peer, a block by PETSc alone, and build/elasticity-ours, by the solvers on ranks.
include Makefile
.DEFAULT_GOAL := elasticity
.PHONY: elasticity
elasticity: $(BUILD)/elasticity-peer $(BUILD)/elasticity-ours $(ON_PETSC)
$(BUILD)/elasticity-peer: $(call object,results/elasticity/peer.c)
$(BUILD)/elasticity-ours: $(call object,results/elasticity/ours.c) $(LIB)
$(BUILD)/elasticity-peer $(BUILD)/elasticity-ours:
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -o $@ $(PETSC_LIBS) $(PKG_LIBS)
