/* Rules of asynchronous work (lib/order), by the cases that the PTX ISA has for them. */
#include "lib/order/barrier.h"
#include "lib/order/group.h"
#include "lib/order/mbarrier.h"
#include "lib/order/proxy.h"
#include "tests/unit/test.h"

/* ---- mbarriers ---- */

static void test_a_phase_is_complete_when_arrivals_and_bytes_are_there(void)
{
    order_mbarrier b = order_mbarrier_init(2);
    CHECK(order_mbarrier_arrive(&b, 1, 1024, false) == ORDER_ARRIVES && !order_mbarrier_is_complete(&b));
    CHECK(order_mbarrier_arrive(&b, 0, -1024, false) == ORDER_ARRIVES && !order_mbarrier_is_complete(&b));
    CHECK(order_mbarrier_arrive(&b, 1, 0, false) == ORDER_ARRIVES && order_mbarrier_is_complete(&b));
    order_mbarrier_next(&b);
    CHECK(b.phase == 1 && b.pending == 2 && b.bytes == 0 && !order_mbarrier_is_complete(&b));
}

static void test_bytes_may_arrive_before_they_are_expected(void)
{
    order_mbarrier b = order_mbarrier_init(1);
    CHECK(order_mbarrier_arrive(&b, 0, -512, false) == ORDER_ARRIVES && b.bytes == -512);
    CHECK(order_mbarrier_arrive(&b, 1, 512, false) == ORDER_ARRIVES && order_mbarrier_is_complete(&b));
}

static void test_more_arrivals_than_the_phase_lacks_are_refused(void)
{
    order_mbarrier b = order_mbarrier_init(4);
    CHECK(order_mbarrier_arrive(&b, 5, 0, false) == ORDER_TOO_MANY_ARRIVALS && b.pending == 4);
    CHECK(order_mbarrier_arrive(&b, 4, 16, false) == ORDER_ARRIVES && !order_mbarrier_is_complete(&b));
    CHECK(order_mbarrier_arrive(&b, 1, 0, false) == ORDER_TOO_MANY_ARRIVALS);
}

static void test_the_transaction_count_has_a_range_each_way(void)
{
    order_mbarrier b = order_mbarrier_init(1);
    CHECK(order_mbarrier_arrive(&b, 0, ORDER_MBARRIER_MOST, false) == ORDER_ARRIVES);
    CHECK(order_mbarrier_arrive(&b, 1, 1, false) == ORDER_TOO_MANY_BYTES && b.pending == 1);
    CHECK(order_mbarrier_arrive(&b, 0, -2 * ORDER_MBARRIER_MOST, false) == ORDER_ARRIVES);
    CHECK(order_mbarrier_arrive(&b, 0, -1, false) == ORDER_TOO_MANY_BYTES);
}

static void test_counts_are_1_to_1048575(void)
{
    CHECK(!order_mbarrier_count_is_valid(0) && order_mbarrier_count_is_valid(1));
    CHECK(order_mbarrier_count_is_valid(1048575) && !order_mbarrier_count_is_valid(1048576));
    order_mbarrier b = order_mbarrier_init(ORDER_MBARRIER_MOST);
    CHECK(!order_mbarrier_raise(&b) && b.pending == ORDER_MBARRIER_MOST);
    b = order_mbarrier_init(1);
    CHECK(order_mbarrier_raise(&b) && b.pending == 2 && b.count == 1);
}

static void test_a_dropped_arrival_lowers_later_phases(void)
{
    order_mbarrier b = order_mbarrier_init(3);
    CHECK(order_mbarrier_arrive(&b, 1, 0, true) == ORDER_ARRIVES && b.pending == 2 && b.count == 2);
    CHECK(order_mbarrier_arrive(&b, 2, 0, false) == ORDER_ARRIVES && order_mbarrier_is_complete(&b));
    order_mbarrier_next(&b);
    CHECK(b.pending == 2);
    CHECK(order_mbarrier_arrive(&b, 3, 0, true) == ORDER_TOO_MANY_ARRIVALS && b.count == 2);
}

static void test_a_wait_for_the_parity_before_the_first_phase_is_over_at_once(void)
{
    order_mbarrier b = order_mbarrier_init(1);
    CHECK(order_mbarrier_passes(&b, 1) && !order_mbarrier_passes(&b, 0));
    order_mbarrier_next(&b);
    CHECK(order_mbarrier_passes(&b, 0) && !order_mbarrier_passes(&b, 1));
}

/* ---- proxies ---- */

static void test_a_proxy_fence_is_of_the_space_that_it_names(void)
{
    CHECK(order_proxy_fence(true, false, false) == (ORDER_SHARED | ORDER_GLOBAL));
    CHECK(order_proxy_fence(true, true, false) == ORDER_SHARED);
    CHECK(order_proxy_fence(true, false, true) == ORDER_GLOBAL);
    CHECK(order_proxy_fence(false, false, false) == 0);
}

static void test_copies_that_read_what_threads_wrote_need_a_fence(void)
{
    CHECK(order_needs_proxy_fence(ORDER_GENERIC, true, ORDER_ASYNC, false));
    CHECK(!order_needs_proxy_fence(ORDER_GENERIC, false, ORDER_ASYNC, false));
    CHECK(!order_needs_proxy_fence(ORDER_ASYNC, true, ORDER_GENERIC, false));
    CHECK(!order_needs_proxy_fence(ORDER_ASYNC, true, ORDER_ASYNC, false));
    CHECK(!order_needs_proxy_fence(ORDER_GENERIC, true, ORDER_GENERIC, false));
    CHECK(order_is_fenced(7, 7, 0) && order_is_fenced(7, 0, 9) && !order_is_fenced(7, 6, 6));
}

static void test_copies_see_an_initialisation_behind_a_fence(void)
{
    CHECK(!order_init_reaches_copies(&(order_init){.init = 5, .released = 9, .cluster_fence = 9}));
    CHECK(!order_init_reaches_copies(&(order_init){.init = 5, .init_fence = 4}));
    CHECK(order_init_reaches_copies(&(order_init){.init = 5, .init_fence = 6}));
    CHECK(order_init_reaches_copies(&(order_init){.init = 5, .proxy_fence = 6}));
    CHECK(order_init_reaches_copies(&(order_init){.init = 5, .user_fence = 6}));
}

static void test_a_relaxed_arrival_does_not_show_other_blocks_an_initialisation(void)
{
    CHECK(!order_init_reaches_blocks(&(order_init){.init = 5, .relaxed = 6}));
    CHECK(order_init_reaches_blocks(&(order_init){.init = 5, .relaxed = 6, .init_fence = 6}));
    CHECK(order_init_reaches_blocks(&(order_init){.init = 5, .relaxed = 6, .cluster_fence = 5}));
    CHECK(order_init_reaches_blocks(&(order_init){.init = 5, .relaxed = 6, .released = 8}));
    CHECK(order_init_reaches_blocks(&(order_init){.init = 5}));
}

/* ---- barriers ---- */

static void test_barriers_are_0_to_15_of_whole_warps(void)
{
    CHECK(order_barrier_all(33) == 64);
    CHECK(order_barrier_check(15, 64, 0, 64) == ORDER_BARRIER_IS_VALID);
    CHECK(order_barrier_check(16, 64, 0, 64) == ORDER_BARRIER_NUMBER);
    CHECK(order_barrier_check(-1, 64, 0, 64) == ORDER_BARRIER_NUMBER);
    CHECK(order_barrier_check(0, 0, 0, 64) == ORDER_BARRIER_THREADS);
    CHECK(order_barrier_check(0, 40, 0, 64) == ORDER_BARRIER_THREADS);
    CHECK(order_barrier_check(0, 96, 0, 64) == ORDER_BARRIER_TOO_MANY);
    CHECK(order_barrier_check(0, 32, 64, 64) == ORDER_BARRIER_OTHER_COUNT);
}

static void test_arrivals_and_waits_of_a_cluster_alternate(void)
{
    CHECK(order_cluster_out_of_turn(0, 0xff, true) == 0);
    CHECK(order_cluster_out_of_turn(0x0f, 0xff, true) == 0x0f);
    CHECK(order_cluster_out_of_turn(0x0f, 0xff, false) == 0xf0);
}

static void test_arrivals_and_stores_at_a_block_that_has_ended_are_lost(void)
{
    CHECK(order_late_use_is_dropped(ORDER_LATE_ARRIVAL) && order_late_use_is_dropped(ORDER_LATE_STORE));
    CHECK(order_late_use_is_dropped(ORDER_LATE_SOURCE) && !order_late_use_is_dropped(ORDER_LATE_COPY));
}

/* ---- groups ---- */

static void test_a_wait_leaves_the_latest_groups(void)
{
    CHECK(order_groups_done(5, 0) == 5 && order_groups_done(5, 2) == 3 && order_groups_done(2, 7) == 0);
    CHECK(order_wait_covers(false, true) && order_wait_covers(true, false) && !order_wait_covers(true, true));
}

static order_products fenced(void)
{
    return (order_products){.fences = 1};
}

static void test_the_first_product_needs_a_fence(void)
{
    order_products w = {0}, f = fenced();
    CHECK(order_product_begins(&w) && !order_product_begins(&w) && !order_product_begins(&f));
}

static void test_an_accumulator_belongs_to_its_product_until_its_group_was_waited_for(void)
{
    order_products w = fenced();
    order_registers d = {0};
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &d, true, 1) == ORDER_USE_IS_VALID && !order_is_in_group(&w, &d));
    CHECK(order_registers_touched(&w, &d, false) == ORDER_TOUCHED_ACCUMULATOR);
    order_products_commit(&w);
    CHECK(order_is_in_group(&w, &d));
    order_products_wait(&w, order_groups_done(w.groups, 1));
    CHECK(order_registers_touched(&w, &d, true) == ORDER_TOUCHED_ACCUMULATOR);
    order_products_wait(&w, order_groups_done(w.groups, 0));
    CHECK(order_registers_touched(&w, &d, true) == ORDER_USE_IS_VALID);
}

static void test_an_operand_may_be_read_and_not_written_while_a_product_runs(void)
{
    order_products w = fenced();
    order_registers a = {0};
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &a, false, 1) == ORDER_USE_IS_VALID);
    CHECK(order_registers_touched(&w, &a, false) == ORDER_USE_IS_VALID);
    CHECK(order_registers_touched(&w, &a, true) == ORDER_TOUCHED_OPERAND);
}

static void test_an_access_and_a_product_have_a_fence_between(void)
{
    order_products w = fenced();
    order_registers d = {0};
    CHECK(order_registers_touched(&w, &d, true) == ORDER_USE_IS_VALID);
    CHECK(order_registers_touched(&w, &d, false) == ORDER_USE_IS_VALID && d.written);
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &d, true, 1) == ORDER_AFTER_WRITE);
    order_products_commit(&w);
    order_products_wait(&w, 1);
    order_registers_touched(&w, &d, false);
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &d, true, 1) == ORDER_AFTER_READ);
    order_registers_touched(&w, &d, true);
    w.fences++;
    CHECK(order_product_takes(&w, &d, true, 1) == ORDER_USE_IS_VALID);
}

static void test_accumulators_of_one_shape_need_no_fence_between(void)
{
    order_products w = fenced();
    order_registers d = {0};
    order_product_begins(&w);
    order_product_takes(&w, &d, true, 1);
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &d, true, 1) == ORDER_USE_IS_VALID);
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &d, true, 2) == ORDER_OTHER_SHAPE);
}

static void test_an_accumulator_becomes_an_operand_behind_a_wait_and_a_fence(void)
{
    order_products w = fenced();
    order_registers r = {0};
    order_product_begins(&w);
    order_product_takes(&w, &r, true, 1);
    order_registers pending = r, waited = r, both = r;
    order_product_begins(&w);
    CHECK(order_product_takes(&w, &pending, false, 1) == ORDER_OPERAND_PENDING);
    order_products_commit(&w);
    order_products_wait(&w, 1);
    CHECK(order_product_takes(&w, &waited, false, 1) == ORDER_WAS_ACCUMULATOR);
    w.fences++;
    CHECK(order_product_takes(&w, &both, false, 1) == ORDER_USE_IS_VALID && both.operand);
    CHECK(order_product_takes(&w, &both, true, 1) == ORDER_WAS_OPERAND);
}

int main(void)
{
    TEST("a phase is complete when arrivals and bytes are there",
         test_a_phase_is_complete_when_arrivals_and_bytes_are_there);
    TEST("bytes may arrive before they are expected", test_bytes_may_arrive_before_they_are_expected);
    TEST("more arrivals than the phase lacks are refused",
         test_more_arrivals_than_the_phase_lacks_are_refused);
    TEST("the transaction count has a range each way", test_the_transaction_count_has_a_range_each_way);
    TEST("counts are 1 to 1048575", test_counts_are_1_to_1048575);
    TEST("a dropped arrival lowers later phases", test_a_dropped_arrival_lowers_later_phases);
    TEST("a wait for the parity before the first phase is over at once",
         test_a_wait_for_the_parity_before_the_first_phase_is_over_at_once);
    TEST("a proxy fence is of the space that it names", test_a_proxy_fence_is_of_the_space_that_it_names);
    TEST("copies that read what threads wrote need a fence",
         test_copies_that_read_what_threads_wrote_need_a_fence);
    TEST("copies see an initialisation behind a fence", test_copies_see_an_initialisation_behind_a_fence);
    TEST("a relaxed arrival does not show other blocks an initialisation",
         test_a_relaxed_arrival_does_not_show_other_blocks_an_initialisation);
    TEST("barriers are 0 to 15 of whole warps", test_barriers_are_0_to_15_of_whole_warps);
    TEST("arrivals and waits of a cluster alternate", test_arrivals_and_waits_of_a_cluster_alternate);
    TEST("arrivals and stores at a block that has ended are lost",
         test_arrivals_and_stores_at_a_block_that_has_ended_are_lost);
    TEST("a wait leaves the latest groups", test_a_wait_leaves_the_latest_groups);
    TEST("the first product needs a fence", test_the_first_product_needs_a_fence);
    TEST("an accumulator belongs to its product until its group was waited for",
         test_an_accumulator_belongs_to_its_product_until_its_group_was_waited_for);
    TEST("an operand may be read and not written while a product runs",
         test_an_operand_may_be_read_and_not_written_while_a_product_runs);
    TEST("an access and a product have a fence between", test_an_access_and_a_product_have_a_fence_between);
    TEST("accumulators of one shape need no fence between",
         test_accumulators_of_one_shape_need_no_fence_between);
    TEST("an accumulator becomes an operand behind a wait and a fence",
         test_an_accumulator_becomes_an_operand_behind_a_wait_and_a_fence);
    return test_finish();
}
