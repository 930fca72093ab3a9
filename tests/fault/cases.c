/* cases.c - see cases.h. The data are small and made from a formula: what is tried is not whether a command does its
 * work, which other tests see to, but what becomes of it when a call fails. */
#include "fault/cases.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

const fault_case fault_preparations[] = {
    {.words = "train --quiet d in.model"},
    {.words = "train --quiet --loss=logistic mc in.classes"},
    {.words = "train --quiet --task=tag --max-rounds=5 tg in.tagger"},
    {.words = "train --quiet --task=parse --max-rounds=5 ps.conllu in.parser"},
    {.words = "train --quiet --format=csv --label=y t.csv in.table"},
    {.words = "train --quiet --method=bda --blocks=4 --log=one.log d in.model"},
    {.words = "train --quiet --method=tron --log=two.log d in.model"},
    {.words = "convert --quiet d d.bda"},
    {.words = "convert --quiet d d.gz"},
    {.words = "convert --quiet d d.zst"},
    {.words = "export in.model in.liblinear"},
    {.words = NULL},
};

#define TRAIN(with)                                                                                                  \
    {                                                                                                                \
        .words = "train --quiet --max-rounds=4 " with " out", .output = "out"                                        \
    }
#define METHOD(name) TRAIN("--blocks=4 --loss=squared-hinge --method=" name " d")

const fault_case fault_cases[] = {
    METHOD("auto"),
    METHOD("bda"),
    METHOD("hull"),
    METHOD("disdca"),
    METHOD("disdca-basic"),
    METHOD("cocoa+"),
    METHOD("dsvm-ave"),
    METHOD("prox-grad"),
    METHOD("newton"),
    METHOD("tron"),
    METHOD("l-commdir"),
    METHOD("lbfgs"),
    METHOD("admm"),
    METHOD("perceptron"),
    METHOD("average"),
    TRAIN("--loss=hinge d"),
    TRAIN("--loss=logistic --threads=2 d"),
    TRAIN("--l1-ratio=0.5 --method=bda --blocks=3 --accelerate d"),
    TRAIN("--l1-ratio=0.5 --method=lbfgs --loss=logistic d"),
    TRAIN("--task=regress rg"),
    TRAIN("--task=regress --loss=epsilon-insensitive --method=hull rg"),
    TRAIN("--task=regress --loss=squared-epsilon-insensitive --method=lbfgs rg"),
    TRAIN("--loss=hinge mc"),
    TRAIN("--loss=hinge --method=hull --blocks=3 mc"),
    TRAIN("--loss=logistic --method=bda --blocks=3 mc"),
    TRAIN("--loss=logistic --method=l-commdir mc"),
    TRAIN("--loss=logistic --method=newton mc"),
    TRAIN("--method=bda --class-weight=balanced --feature-penalty=penalty --weights=weights d"),
    TRAIN("--method=bda --log=out.log --validate=d,every=2 d"),
    {.words = "train --quiet --max-rounds=4 --threads-mode=lock-free --threads=2 --method=hull d out",
     .output = "out",
     .loose = true},
    TRAIN("--method=bda --blocks=4 --checkpoint=out.state --checkpoint-every=1 d"),
    TRAIN("--method=hull --blocks=4 --hull=fused --checkpoint=out.state --checkpoint-every=1 d"),
    TRAIN("d.gz"),
    TRAIN("d.zst"),
    TRAIN("d.bda"),
    TRAIN("--format=csv --label=y t.csv"),
    {.words = "train --quiet --max-rounds=4 -o out d d.gz more", .output = "out"},
    TRAIN("--task=tag tg"),
    TRAIN("--task=tag --loss=logistic --method=admm tg"),
    TRAIN("--task=tag --template=template --method=momentum tg"),
    TRAIN("--task=tag --column=upos ps.conllu"),
    TRAIN("--task=parse ps.conllu"),
    TRAIN("--task=parse --labels=yes --trees=any --loss=logistic ps.conllu"),
    TRAIN("--task=parse --trees=projective --loss=hinge --method=perceptron ps.conllu"),
    {.words = "select --quiet --folds=3 --costs=0.1,1 d out", .output = "out"},
    {.words = "predict --quiet in.model d out", .output = "out"},
    {.words = "predict --quiet --scores --metrics=out.metrics in.model d.bda out", .output = "out"},
    {.words = "predict --quiet --probability --format=csv in.classes mc out", .output = "out"},
    {.words = "predict --quiet in.table t.csv out", .output = "out"},
    {.words = "predict --quiet --force in.tagger tg out", .output = "out"},
    {.words = "predict --quiet --force in.parser ps.conllu out", .output = "out"},
    {.words = "info in.model", .most_ranks = 1},
    {.words = "info in.tagger", .most_ranks = 1},
    {.words = "info --json d.bda", .most_ranks = 1, .loose = true},
    {.words = "export --format=liblinear in.model out", .output = "out", .most_ranks = 1},
    {.words = "export --format=json in.classes out", .output = "out", .most_ranks = 1},
    {.words = "export --format=c in.model out", .output = "out", .most_ranks = 1},
    {.words = "import in.liblinear out", .output = "out", .most_ranks = 1},
    {.words = "convert --quiet d out.bda", .output = "out.bda"},
    {.words = "convert --quiet d.bda out.gz", .output = "out.gz"},
    {.words = "convert --quiet d.zst out.zst", .output = "out.zst"},
    {.words = "convert --quiet --format=text d.bda out", .output = "out"},
    {.words = "generate --like=url --scale=0.0001 out.bda", .output = "out.bda"},
    {.words = "generate --like=rcv1 --scale=0.0003 --format=text out", .output = "out"},
    {.words = "report --quiet -o out.html one.log two.log", .output = "out.html", .most_ranks = 1},
    {.words = "report --quiet --csv=out.csv -o out.html one.log two.log", .output = "out.csv", .most_ranks = 1},
    {.words = "train --help", .most_ranks = 1},
    {.words = "--describe", .most_ranks = 1},
    {.words = NULL},
};

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

static void write_rows(FILE *to, int rows, int labels)
{
    for (int i = 0; i < rows; i++) {
        const uint32_t class = draw((uint32_t)(labels ? labels : 7));
        if (labels)
            fprintf(to, "%u", class);
        else
            fprintf(to, "%.2f", class + 0.01 * draw(50));
        for (uint32_t j = 1 + draw(3); j < 24; j += 1 + draw(5))
            fprintf(to, " %u:%g", j, (draw(9) + 1.0) / 8 + (j % 5 == class));
        fprintf(to, "\n");
    }
}

static void write_table(FILE *to)
{
    fprintf(to, "a,colour,y\n");
    for (int i = 0; i < 30; i++)
        fprintf(to, "%u,%s,%u\n", draw(10), draw(2) ? "red" : "blue", draw(2));
}

static void write_columns(FILE *to)
{
    static const char *const words[] = {"the", "dog", "sees", "a", "Cat", "12"};
    static const char *const tags[] = {"D", "N", "V", "D", "N", "M"};
    for (int i = 0; i < 12; i++) {
        for (uint32_t j = 0, length = 2 + draw(5); j < length; j++) {
            const uint32_t k = draw(6);
            fprintf(to, "%s x %s\n", words[k], tags[k]);
        }
        fprintf(to, "\n");
    }
}

static void write_trees(FILE *to)
{
    static const char *const words[] = {"the", "dog", "sees", "a", "Cat"};
    static const char *const tags[] = {"DET", "NOUN", "VERB", "DET", "NOUN"};
    for (int i = 0; i < 10; i++) {
        const uint32_t length = 2 + draw(4);
        for (uint32_t j = 1; j <= length; j++) {
            const uint32_t k = draw(5);
            fprintf(to, "%u\t%s\t_\t%s\tX\t_\t%u\t%s\t_\t_\n", j, words[k], tags[k], j - 1, j == 1 ? "root" : "dep");
        }
        fprintf(to, "\n");
    }
}

static bool write_file(const char *name, void (*write)(FILE *to))
{
    FILE *to = fopen(name, "w");
    if (to)
        write(to);
    return to && fclose(to) == 0;
}

static void write_two(FILE *to)
{
    write_rows(to, 60, 2);
}

static void write_three(FILE *to)
{
    write_rows(to, 60, 3);
}

static void write_reals(FILE *to)
{
    write_rows(to, 60, 0);
}

static void write_template(FILE *to)
{
    fprintf(to, "U00:%%x[-1,0]\nU01:%%x[0,0]/%%x[1,0]\nB\n");
}

static void write_penalty(FILE *to)
{
    fprintf(to, "# penalties\n1 2\n5 0.5\n");
}

static void write_weights(FILE *to)
{
    for (int i = 0; i < 60; i++)
        fprintf(to, "%d\n", 1 + i % 3);
}

bool fault_write_inputs(void)
{
    return mkdir("more", 0777) == 0 && write_file("d", write_two) && write_file("mc", write_three) &&
           write_file("rg", write_reals) && write_file("tg", write_columns) && write_file("ps.conllu", write_trees) &&
           write_file("t.csv", write_table) && write_file("template", write_template) &&
           write_file("penalty", write_penalty) && write_file("weights", write_weights) &&
           write_file("more/a", write_two) && write_file("more/b", write_two);
}
