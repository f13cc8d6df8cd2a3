/* One examination of a measurement: over the pictures of a round, or over sentences. */
#include "core/eval/ablation.h"
#include "core/graph/anatomy.h"
#include "core/models/text_model.h"
#include "core/session/learned/measures_parts.h"

static Ablation removal_of(const Session *s, MeasureKind kind, int at)
{
    if (at < 0 || kind == MEASURE_READOUT)
        return (Ablation){.kind = ABLATION_NONE};
    if (kind == MEASURE_SCALE)
        return (Ablation){.kind = ABLATION_SCALE, .factor = measures_factor(s, at)};
    return (Ablation){.kind = ABLATION_HEAD, .layer = at / session_heads(s), .head = at % session_heads(s)};
}

static Accuracy *open_pictures(const Session *s, MeasureKind kind, int at, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (!ablation_edits(&arena, session_base(s), removal_of(s, kind, at), &edits))
        UNREACHABLE("a head that the model has not");
    const AccuracySetup setup = {.model = &s->model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = session_base(s),
                                 .dataset = s->measures->work[kind].dataset,
                                 .other = kind == MEASURE_READOUT,
                                 .pool = s->pool};
    Accuracy *e = accuracy_new(&setup, err);
    arena_free(&arena);
    return e;
}

static TextAccuracy *open_sentences(const Session *s, MeasureKind kind, int at, size_t round, Err *err)
{
    const Graph *g = session_base(s);
    TextAccuracySetup setup = {.model = session_text_model(s),
                               .first = round * MEASURES_ROUND,
                               .count = MEASURES_ROUND,
                               .pool = s->pool};
    if (at >= 0 && kind == MEASURE_SCALE)
        setup.change.factor = measures_factor(s, at);
    else if (at >= 0)
        setup.change = (TextHead){anatomy_part(g, anatomy_attention(g, at / session_heads(s)))->scope,
                                  at % session_heads(s), 0};
    return text_accuracy_new(&setup, err);
}

Exam exam_open(const Session *s, MeasureKind kind, int at, size_t round, Err *err)
{
    if (session_text_model(s))
        return (Exam){.sentences = open_sentences(s, kind, at, round, err)};
    return (Exam){.pictures = open_pictures(s, kind, at, err)};
}

bool exam_is_open(Exam e)
{
    return e.pictures || e.sentences;
}

bool exam_step(Exam e, int64_t deadline_ns)
{
    return e.sentences ? text_accuracy_step(e.sentences, deadline_ns) : accuracy_step(e.pictures, deadline_ns);
}

size_t exam_done(Exam e)
{
    return e.sentences ? text_accuracy_done(e.sentences) : accuracy_pictures_done(e.pictures);
}

const AccuracyResult *exam_result(Exam e)
{
    return e.sentences ? text_accuracy_result(e.sentences) : accuracy_result(e.pictures);
}

void exam_free(Exam *e)
{
    accuracy_free(e->pictures);
    text_accuracy_free(e->sentences);
    *e = (Exam){NULL, NULL};
}

const char *session_measured_over(const Session *s)
{
    return session_text_model(s) ? "sentences" : "pictures";
}
