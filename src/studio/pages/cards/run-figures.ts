import type { RunModel } from "./model/run-model.ts";
import type { RunStatistics } from "./model/run-statistics.ts";
import { formatCount, formatDuration, formatPercent, formatTokenTotal, pluralize } from "./text-format.ts";

/** A figure of the run with an explanation. */
interface LabeledFigure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly kind?: "good" | "bad";
}

/** Returns the figures that the header of a run shows. */
export function listRunFigures(statistics: RunStatistics, model: RunModel): LabeledFigure[] {
  const { accuracy, samples, measures, figures, timePerSample, errorCount, partialCount } = statistics;
  const correct = Math.round((accuracy?.value ?? 0) * samples.done);
  return [
    ...(accuracy
      ? [
          {
            name: "accuracy",
            value: formatPercent(accuracy.value),
            note: `${formatCount(correct)} of ${formatCount(samples.done)}, 95 % interval ${formatPercent(accuracy.low)} to ${formatPercent(accuracy.high)}`,
          },
        ]
      : []),
    ...Object.entries(measures).map(([name, mean]) => ({ name, value: mean.toFixed(3), note: "mean" })),
    {
      name: "problems",
      value: formatCount(samples.total),
      note: [
        samples.done === samples.total ? "all done" : `${formatCount(samples.done)} done`,
        ...(samples.failed > 0 ? [`${formatCount(samples.failed)} wrong because of an error`] : []),
        ...(samples.skipped > 0 ? [`${formatCount(samples.skipped)} skipped because of an error`] : []),
      ].join(", "),
    },
    {
      name: "cards",
      value: formatCount(figures?.cards ?? 0),
      note: [
        errorCount + partialCount === 0
          ? "no errors"
          : `${pluralize(errorCount, "error")}, ${formatCount(partialCount)} partial`,
        ...(model.abandonedCardCount > 0
          ? [`${formatCount(model.abandonedCardCount)} more in abandoned attempts`]
          : []),
      ].join("; "),
    },
    describeTokens(statistics),
    ...(timePerSample
      ? [{ name: "time", value: formatDuration(timePerSample.median), note: "median per problem" }]
      : []),
    describeLedger(statistics),
  ];
}

function describeTokens({ tokens }: RunStatistics): LabeledFigure {
  const { perSample, estimated, unknownCards, isReported } = tokens;
  const unknown = `${pluralize(unknownCards, "card")} with unknown tokens`;
  if (!isReported)
    return { name: "tokens", value: "–", note: unknownCards > 0 ? unknown : "no card reports tokens" };
  const notes = [
    ...(perSample ? [`${formatCount(Math.round(perSample.mean))} per problem`] : []),
    ...(estimated > 0 ? [`${formatCount(estimated)} estimated`] : []),
    ...(unknownCards > 0 ? [`at least: ${unknown}`] : []),
  ];
  return { name: "tokens", value: formatTokenTotal(tokens), note: notes.join(", ") };
}

/** Describes whether the tokens of the cards match the tokens of the recorded model calls. */
function describeLedger({ ledger }: RunStatistics): LabeledFigure {
  if (!ledger) return { name: "ledger", value: "–", note: "no model calls recorded" };
  if (!ledger.ok)
    return {
      name: "ledger",
      value: "off",
      note: `in ${pluralize(ledger.mismatches.length, "place")}`,
      kind: "bad",
    };
  const rest = ledger.unchecked.length > 0 ? `; not recorded: ${ledger.unchecked.join(", ")}` : "";
  return { name: "ledger", value: "balanced", note: `cards match model calls${rest}`, kind: "good" };
}
