"""Tests that take seconds and are left to `make test-long`: variants of quick ones.

Of each of them another variant stays in `make test`: another parameter, or what the comment names.
Tests of which all variants take long carry the mark `long` themselves.
"""

NOTEBOOK = (
    "docs/test_notebooks.py::"
    "test_a_fresh_kernel_shows_what_is_saved_and_the_checks_know_right_from_wrong"
)
ESTIMATE = (
    "engines/test_array_watched.py::"
    "test_the_estimate_is_no_less_than_what_a_run_takes_and_not_far_more"
)
CTRL_C = "engines/test_array_watched.py::test_ctrl_c_ends_a_run_within_two_seconds"
LOADING = "cli/test_start.py::test_ctrl_c_while_modules_load"
MOMENT = "cli/test_start.py::test_ctrl_c_a_moment_after_the_start"
TERMINAL = "view/test_terminal.py::test_what_commands_print_on_a_terminal"
STATES = "view/test_player.py::test_the_state_is_that_of_the_trace_at_every_time_unit"
SHOWS = "monitors/test_planted.py::test_a_run_shows_what_one_run_can"
SIGHT = "view/test_player_embedded.py::test_controls_conflict_and_timeline_are_in_sight_together"
CELLS = "view/test_player_dense.py::test_all_banks_and_all_cells_of_a_conflict_are_in_sight"
LAB = "view/test_lab.py::"
FIREFOX = "view/test_lab_firefox.py::"
OPENS = "view/test_player_dense.py::test_a_link_opens_where_a_conflict_is_in_sight"
KINDS = "view/test_player_kinds.py::test_a_kind_goes_to_its_first_moment_and_stops_at_all"
README = "house/test_wheel.py::test_each_command_of_the_readme_works_after_pip_install"

LONG = frozenset(
    {
        # The other notebooks are executed.
        f"{NOTEBOOK}[02-latency-and-warps]",
        f"{NOTEBOOK}[03-transpose-three-ways]",
        f"{NOTEBOOK}[04-conflict-free-permutation]",
        f"{NOTEBOOK}[05-scheduled-permutation]",
        f"{NOTEBOOK}[06-random-address-permute-shift]",
        f"{NOTEBOOK}[07-the-model-and-the-metal]",
        f"{NOTEBOOK}[08-bring-your-own-kernel]",
        f"{NOTEBOOK}[10-the-canon]",
        f"{NOTEBOOK}[11-your-cuda-course-without-a-card]",
        "claims/test_fit.py::test_a_claims_formula_is_found_from_its_runs[ICPP-L4.D]",
        "claims/test_growth.py::"
        "test_the_growth_of_a_paper_is_as_derived_and_not_otherwise[SMM-L5.3.swap.printed]",
        # With its small cases in test_papers.py.
        "claims/test_own_sizes.py::test_verdict[IEICE-2.shuffle]",
        "claims/test_own_sizes.py::test_verdict[RAP-T4.1]",
        "claims/test_own_sizes.py::test_verdict[RAP-TH2.O]",
        "claims/test_own_sizes.py::test_verdict[RAP-TH2.any]",
        f"{LOADING}[run-argparse-2]",
        f"{LOADING}[run-mmsim.cli.run-2]",
        f"{LOADING}[run-numpy.linalg-2]",
        f"{LOADING}[step-simpy-2]",
        f"{LOADING}[sweep-mmsim_algorithms.access-2]",
        f"{LOADING}[conflicts-numpy.lib-2]",
        f"{LOADING}[verify-sympy-2]",
        f"{LOADING}[list-sympy-2]",
        f"{LOADING}[verify-sympy-raise]",
        f"{MOMENT}[0-verify]",
        f"{MOMENT}[0.03-run]",
        f"{MOMENT}[0.1-run]",
        f"{MOMENT}[0.1-verify]",
        f"{MOMENT}[0.3-run]",
        "cli/test_interrupts.py::test_verify_prints_what_is_verified[2-2]",
        "cli/test_interrupts.py::test_a_sweep_keeps_its_rows[1-group]",
        "cli/test_interrupts.py::test_a_sweep_keeps_its_rows[2-2]",
        "cli/test_interrupts.py::test_a_sweep_keeps_its_rows[2-group]",
        "cli/test_interrupts.py::test_other_commands_end_too[words0-15-143]",
        "cli/test_interrupts.py::test_other_commands_end_too[words1-1-129]",
        "cli/test_interrupts.py::test_other_commands_end_too[words2-2-130]",
        "cli/test_cli_edges.py::test_a_closed_or_full_error_output_stops_nothing[2>&-]",
        "engines/test_compiled_programs.py::test_the_papers_programs[straightforward-machine0]",
        "engines/test_compiled_programs.py::test_the_papers_programs[stride3-machine2]",
        "engines/test_compiled_programs.py::test_the_papers_programs[destination_designated-machine3]",
        "engines/test_compiled_programs.py::test_the_papers_programs[rotating-machine4]",
        "engines/test_compiled_programs.py::test_the_papers_programs[diagonal-machine1]",
        "engines/test_compiled_programs.py::test_values_of_every_type[short_types]",
        "engines/test_array_against_events.py::test_fused_programs_agree_too[asynchronous]",
        "engines/test_array_against_events.py::"
        "test_the_engines_agree_without_a_race_and_both_find_one[synchronous]",
        "engines/test_byte_banks.py::"
        "test_random_programs_take_what_the_reference_says[synchronous]",
        "engines/test_cached.py::test_the_engines_agree[synchronous]",
        "engines/test_cached.py::test_without_more_it_is_the_hmm[synchronous]",
        "engines/test_own_machines.py::test_both_engines_agree_with_the_reference[asynchronous]",
        "engines/test_compile_cache.py::test_what_was_kept_and_is_ruined_does_no_harm[cut short]",
        "engines/test_compile_cache.py::test_what_was_kept_and_is_ruined_does_no_harm[noise]",
        "engines/test_compile_cache.py::"
        "test_without_a_place_to_keep_programs_they_run_all_the_same[file/below]",
        "engines/test_compile_cache.py::test_two_processes_compile_one_program_together",
        "engines/test_compile_cache.py::"
        "test_what_cannot_be_kept_is_compiled_all_the_same[unknown user]",
        f"{ESTIMATE}[interpreted-own_loops-asynchronous]",
        f"{ESTIMATE}[interpreted-own_loops-synchronous]",
        f"{ESTIMATE}[interpreted-permutation-asynchronous]",
        f"{ESTIMATE}[fused-elements_of_others-asynchronous]",
        f"{ESTIMATE}[fused-own_elements-asynchronous]",
        f"{ESTIMATE}[fused-own_elements-synchronous]",
        f"{CTRL_C}[interpreted-own_loops-asynchronous-schedule]",
        f"{CTRL_C}[fused-elements_of_others-synchronous-pieces]",
        f"{CTRL_C}[fused-own_elements-asynchronous-schedule]",
        "frontend/test_language_arithmetic.py::"
        "test_expressions_mean_what_they_mean_in_python[array]",
        "gpu/test_gpu_experiments.py::test_what_a_launch_writes_a_later_one_reads[several words]",
        "house/test_wheel.py::test_it_is_installed_next_to_the_other_algorithms[False]",
        "gpu/test_gpu_kernels.py::test_their_cuda_c_leaves_the_same[sums_and_searches]",
        # Where mmsim is not installed, other tests run these commands in quick tests, too.
        f"{README}[mmsim prove SMM-L5.1 --show --widths 32]",
        f"{README}[mmsim reproduce RAP-T2]",
        f"{README}[mmsim bench scheduled]",
        f"{README}[mmsim sweep mmsim_algorithms.access:stride --width 4 8 16 --size 1024 4096 "
        "--out rows.jsonl]",
        "papers/test_dynamic_programming.py::"
        "test_any_number_of_dmms_and_rows_of_threads[3-4-4-synchronous]",
        "papers/test_rap_bounds.py::test_a_half_warp_in_a_bank_and_in_any[6]",
        "papers/test_sorting.py::test_bitonic_sort_sorts_and_has_no_race[32-asynchronous]",
        "papers/test_sorting.py::test_bitonic_sort_sorts_and_has_no_race[32-synchronous]",
        "papers/test_summed_area.py::"
        "test_trees_leave_the_same_for_any_number_of_threads[UMM-synchronous]",
        "papers/test_umm_groups.py::test_any_number_of_warps_moves_the_tiles[3-16-4-synchronous]",
        "papers/test_umm_groups.py::test_any_number_of_warps_moves_the_tiles[3-32-8-synchronous]",
        # Found by the checker in the quick tests, too: test_a_bug_is_found_as_it_was_planted.
        f"{SHOWS}[array-acquired_in_a_helper]",
        f"{SHOWS}[events-acquired_in_a_helper]",
        f"{SHOWS}[array-spins_in_a_warp]",
        f"{SHOWS}[array-freed_behind_the_loop]",
        f"{SHOWS}[events-freed_behind_the_loop]",
        f"{STATES}[ICPP Figure 3, UMM]",
        f"{STATES}[SMM Figure 4, DMM]",
        f"{STATES}[permutation, DMM]",
        f"{STATES}[permutation, HMM]",
        f"{STATES}[variables, DMM, asynchronous]",
        f"{STATES}[variables, DMM, synchronous]",
        f"{STATES}[variables, HMM, asynchronous]",
        f"{STATES}[variables, UMM, asynchronous]",
        f"{STATES}[variables, UMM, synchronous]",
        # The states themselves are compared there: test_the_state_is_that_of_the_trace.
        "view/test_player.py::test_stepping_by_keyboard_and_by_mouse[atomics, DMM]",
        "view/test_player.py::test_a_chosen_thread_shows_what_it_holds_and_touches[asynchronous]",
        "view/test_player.py::test_a_window_shows_the_same_states[permuting-synchronous]",
        "view/test_player.py::test_a_window_shows_the_same_states[changing-asynchronous]",
        "view/test_player.py::test_a_window_shows_the_same_states[make1-asynchronous]",
        "view/test_player.py::test_the_controls_stay_in_sight[1180]",
        "view/test_player.py::test_what_is_drawn_is_the_state[SMM Figure 4, UMM]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size0-32 banks]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size0-one memory]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size0-two runs]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size1-one memory]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size1-HMM, five launches]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size1-two runs]",
        "view/test_player_runs.py::test_two_runs_go_in_step[before and after]",
        "view/test_player_runs.py::test_two_runs_go_in_step[DMM and UMM]",
        "sweeps/test_sweep.py::test_ctrl_c_keeps_the_rows_and_says_how_to_go_on[1]",
        "sweeps/test_sweep.py::test_rows_do_not_depend_on_jobs_or_backend[multiprocessing]",
        f"{TERMINAL}[call1-names1-80]",
        f"{TERMINAL}[call5-names5-80]",
        f"{TERMINAL}[call0-names0-60]",
        f"{TERMINAL}[call2-names2-60]",
        f"{TERMINAL}[call4-names4-60]",
        f"{TERMINAL}[call5-names5-60]",
        f"{TERMINAL}[call6-names6-60]",
        "view/test_player_lecture.py::test_a_lecture_fits_its_screen[size1-32 banks]",
        "view/test_player_lecture.py::test_on_paper_and_with_less_motion[794]",
        f"{SIGHT}[4 banks-700-600]",
        f"{SIGHT}[UMM-700-600]",
        f"{SIGHT}[4 banks-1100-820]",
        f"{SIGHT}[32 banks-700-600]",
        f"{SIGHT}[32 banks-1100-820]",
        f"{SIGHT}[UMM-1100-820]",
        f"{SIGHT}[two runs-1100-820]",
        "view/test_player_embedded.py::test_a_narrow_frame_keeps_the_timeline_in_sight[600]",
        f"{CELLS}[1920-1080-]",
        f"{CELLS}[1920-1080-?lecture]",
        "view/test_player_dense.py::test_a_conflict_on_another_page_of_rows_is_in_sight[]",
        f"{OPENS}[1280--machine0]",
        f"{OPENS}[1280--machine1]",
        f"{OPENS}[390--machine1]",
        f"{OPENS}[1280-&lecture-machine1]",
        f"{KINDS}[latency]",
        f"{KINDS}[coalescing]",
        f"{KINDS}[barrier]",
        f"{LAB}test_layouts_change_the_run[Padded-layout0]",
        f"{LAB}test_layouts_change_the_run[Diagonal-layout1]",
        f"{LAB}test_layouts_change_the_run[XorRows-layout3]",
        f"{LAB}test_layouts_change_the_run[Swizzle-layout4]",
        f"{LAB}test_tiles_cost_what_conflicts_says[layout0-RAW-32x32-float-accesses0]",
        f"{LAB}test_tiles_cost_what_conflicts_says[layout1-padded 1-32x32-float-accesses1]",
        f"{LAB}test_the_file_of_python_prints_the_same_time[transposing]",
        f"{LAB}test_machine_width_and_latency_change_the_run[synchronous]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong0]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong3]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong4]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong5]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong6]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong7]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong8]",
        f"{LAB}test_a_link_that_is_no_laboratory_is_refused[wrong9]",
        f"{LAB}test_nothing_is_wider_than_the_page[1280]",
        f"{LAB}test_nothing_is_wider_than_the_page[1920]",
        "frontend/test_random_typing.py::test_a_kernel_leaves_what_numba_does[3]",
        "frontend/test_random_typing.py::test_a_kernel_leaves_what_numba_does[4]",
        "frontend/test_random_typing.py::test_a_kernel_leaves_what_numba_does[5]",
        "frontend/test_random_typing.py::test_a_kernel_leaves_what_numba_does[6]",
        "frontend/test_random_typing.py::test_a_kernel_leaves_what_numba_does[7]",
        # Chromium does the same in test_lab.py.
        f"{FIREFOX}test_a_mistake_names_its_line_and_the_player_keeps_the_run_before",
        f"{FIREFOX}test_another_text_has_another_time",
        f"{FIREFOX}test_the_machine_and_the_schedule_change_the_run",
        f"{FIREFOX}test_a_slider_follows_the_arrow_keys",
        f"{FIREFOX}test_the_editor_by_keyboard",
        f"{FIREFOX}test_the_text_that_one_sees_lies_where_one_types",
        f"{FIREFOX}test_sums_with_shared_memory_and_the_file_of_python",
        f"{FIREFOX}test_a_tile_has_its_stages_and_a_padding_that_frees_it",
        f"{FIREFOX}test_nothing_is_wider_than_the_page",
        f"{FIREFOX}test_a_notebook_s_frame_runs_too",
        f"{FIREFOX}test_the_player_s_states_are_those_of_the_trace",
        f"{FIREFOX}test_light_dark_and_lecture",
        f"{FIREFOX}test_layouts_change_the_run[RAP-layout1]",
        "claims/test_claim_figure.py::test_every_statement_can_be_set[exact]",
        "cuda/test_other_repositories.py::test_its_tests_run_on_mmsim_unchanged[stumpy's]",
        "gpu/test_cuda_emulated.py::test_a_rule_of_the_language[vectors-global0]",
        "frontend/test_odd_arguments.py::test_figures_of_runs[warps]",
        "engines/test_typed_arithmetic.py::test_arithmetic_in_a_type_is_numpys[complex128-events]",
        "engines/test_compiled_programs.py::test_values_of_every_type[long_types]",
        # What an earlier page did wrong; the page is tested in many ways in the quick tests.
        f"{LAB}test_a_machine_too_wide_to_draw_has_its_time",
        f"{LAB}test_a_worker_that_does_not_hear_of_the_next_run_is_replaced",
        f"{LAB}test_the_file_of_python_of_a_program_called_main",
        f"{LAB}test_reset_leads_back_to_the_link_even_if_the_page_was_loaded_again",
        f"{LAB}test_a_curve_that_a_change_interrupted_is_measured_when_one_goes_back",
    }
)
