/* test_table.c - which methods serve a problem, and the sentence that says so: made-up methods, one for each thing
 * that a method may need. */
#include <stdio.h>
#include <string.h>

#include "methods/table.h"
#include "unit/cmocka_all.h"

static const method needs_slope = {.name = "slope", .smooth_loss = true};
static const method needs_slope_of_many = {.name = "many", .smooth_classes = true};
static const method needs_smooth = {.name = "smooth", .smooth_regulariser = true};
static const method needs_labels = {.name = "labels", .classification = true};
static const method needs_few = {.name = "few", .most_weights = 100};
static const method needs_nothing = {.name = "any"};

static problem problem_of(const char *loss, uint64_t classes, uint64_t n, double l1_ratio)
{
    const struct loss *l = loss_find(loss);
    return (problem){.task = task_find(task_of_loss(l, NULL), l, classes, NULL),
                     .loss = l,
                     .classes = classes,
                     .n = n,
                     .penalty = {.l1_ratio = l1_ratio}};
}

/* NULL: it serves. */
static const char *refusal(const method *m, problem p, bda_error *err)
{
    *err = (bda_error){0};
    if (method_serves(m, &p, err)) {
        assert_int_equal(err->status, BDA_OK);
        return NULL;
    }
    assert_int_equal(err->status, BDA_USAGE);
    return err->text;
}

static void needs_decide(void **state)
{
    (void)state;
    bda_error err;
    assert_null(refusal(&needs_nothing, problem_of("hinge", 7, 1000, 0.5), &err));
    assert_null(refusal(&needs_slope, problem_of("squared-hinge", 2, 1000, 0.5), &err));
    assert_null(refusal(&needs_slope, problem_of("logistic", 3, 1000, 0), &err));
    assert_null(refusal(&needs_slope, problem_of("squared-error", 1, 1000, 0), &err));
    assert_null(refusal(&needs_smooth, problem_of("hinge", 3, 1000, 0), &err));
    assert_null(refusal(&needs_labels, problem_of("hinge", 3, 1000, 0.1), &err));
    assert_null(refusal(&needs_few, problem_of("hinge", 2, 100, 0), &err));

    assert_null(refusal(&needs_slope_of_many, problem_of("hinge", 2, 10, 0), &err));
    assert_null(refusal(&needs_slope_of_many, problem_of("logistic", 3, 10, 0), &err));
    assert_non_null(strstr(refusal(&needs_slope_of_many, problem_of("hinge", 3, 10, 0), &err), "with 3 labels"));
    assert_non_null(strstr(refusal(&needs_slope, problem_of("hinge", 2, 10, 0), &err), "--loss=hinge"));
    assert_non_null(strstr(refusal(&needs_slope, problem_of("epsilon-insensitive", 1, 10, 0), &err), "--loss=eps"));
    assert_non_null(strstr(refusal(&needs_smooth, problem_of("hinge", 2, 10, 0.25), &err), "--l1-ratio=0.25"));
    assert_non_null(strstr(refusal(&needs_labels, problem_of("squared-error", 1, 10, 0), &err), "--task=regress"));
    assert_non_null(strstr(refusal(&needs_few, problem_of("hinge", 2, 101, 0), &err), "at most 100 weights"));
}

/* Before the labels are read a squared hinge may still be the differentiable one of two labels. */
static void classes_are_known_late(void **state)
{
    (void)state;
    bda_error err = {0};
    const loss *squared = loss_find("squared-hinge");
    assert_true(method_may_serve(&needs_slope, "classify", squared, 0, false, &err));
    const char *text = refusal(&needs_slope, problem_of("squared-hinge", 3, 10, 0), &err);
    assert_non_null(strstr(text, "with 3 labels"));
    assert_true(method_may_serve(&needs_few, "classify", squared, 0, false, &err));
    assert_false(method_may_serve(&needs_slope, "classify", loss_find("hinge"), 0, false, &err));
    assert_false(method_may_serve(&needs_smooth, "classify", squared, 0.1, false, &err));
    assert_false(method_may_serve(&needs_labels, "regress", loss_find("squared-error"), 0, false, &err));
}

/* Every method is named in the sentence exactly if it serves. */
static void sentence_names_what_serves(void **state)
{
    (void)state;
    bda_error err, ignored;
    for (const loss *l = losses; l->name; l++)
        for (uint64_t classes = l->regression ? 1 : 2; classes <= (l->regression ? 1 : 3); classes++)
            for (int flaw = 0; flaw < 2; flaw++) {
                problem p = problem_of(l->name, classes, 1000000, flaw ? 0.5 : 0);
                const char *text = strstr(refusal(&needs_few, p, &err), "; --method=");
                assert_non_null(text);
                char names[400];
                snprintf(names, sizeof names, "%s", text + strlen("; --method="));
                size_t served = 0, named = 0;
                for (const method *const *m = methods; *m; m++)
                    served += refusal(*m, p, &ignored) == NULL;
                for (char *name = strtok(names, ", "); name; name = strtok(NULL, ", ")) {
                    if (strcmp(name, "or") == 0)
                        continue;
                    if (strcmp(name, "would") == 0)
                        break;
                    const method *m = method_find(name);
                    assert_non_null(m);
                    assert_null(refusal(m, p, &ignored));
                    named++;
                }
                assert_true(named == served && served > 0);
            }
}

/* A name that is listed is found, and every method says what it is and what it needs. */
static void table_is_sound(void **state)
{
    (void)state;
    for (const method *const *m = methods; *m; m++) {
        assert_ptr_equal(method_find((*m)->name), *m);
        assert_true((*m)->summary[0] && (*m)->needs[0] && (*m)->train);
        for (const method *const *other = methods; other < m; other++)
            assert_string_not_equal((*m)->name, (*other)->name);
    }
    assert_non_null(method_find("auto"));
    assert_null(method_find("frobnicate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_decide),
        cmocka_unit_test(classes_are_known_late),
        cmocka_unit_test(sentence_names_what_serves),
        cmocka_unit_test(table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
