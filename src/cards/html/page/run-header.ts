import type { RunStatistics } from "../run-statistics.ts";
import type { RunModel } from "../run-model.ts";
import { createElement, createIsolatedText } from "./dom.ts";
import { renderLabeledValue } from "./sample-header.ts";
import {
  formatCount,
  formatDuration,
  EVIDENCE_DESCRIPTIONS,
  formatPercent,
  formatTokenTotal,
  pluralize,
} from "./text-format.ts";

/** Renders the description, the state, and the statistics of the run. */
export function renderRunHeader(
  model: RunModel,
  overview: RunStatistics,
  title: string,
  isLive: boolean,
): HTMLElement[] {
  const { run } = model;
  return [
    createElement(
      "div",
      { class: "title" },
      createElement("h1", {}, createIsolatedText(run?.run_id ?? title)),
      createElement(
        "span",
        { class: `state ${getRunState(model, isLive).kind}` },
        getRunState(model, isLive).label,
      ),
    ),
    ...(run
      ? [
          createElement(
            "p",
            { class: "facts" },
            ...listRunHeaderFields(run, model).map(([name, value]) => renderLabeledValue(name, value)),
          ),
          renderAnswerSourceKind(run.evidence),
        ]
      : []),
    createElement("dl", { class: "figures" }, ...renderRunStatistics(overview, model)),
  ];
}

function listRunHeaderFields(
  run: NonNullable<RunModel["run"]>,
  { clockSummary: clocks }: RunModel,
): [string, string][] {
  return [
    ["dataset", [run.dataset, run.split].filter(Boolean).join(" ")],
    ["method", [run.method, run.mode, run.context && `context ${run.context}`].filter(Boolean).join(" · ")],
    ...groupRolesByModel(run.model),
    ["scored by", run.rule],
    ["colloquy", run.code],
    ...(clocks
      ? [
          [
            "clocks",
            `${formatCount(clocks.files)} files, shifted by up to ${formatDuration(clocks.moved)}`,
          ] as [string, string],
        ]
      : []),
  ];
}

/** Groups role names by model, for example `planner, solver: oracle`. */
function groupRolesByModel(models: Readonly<Record<string, string>>): [string, string][] {
  return [...Map.groupBy(Object.entries(models), ([, model]) => model)].map(([model, roles]) => [
    roles.map(([role]) => role).join(", "),
    model,
  ]);
}

function renderAnswerSourceKind(evidence: string): HTMLElement {
  const isModel = evidence === "live-model" || evidence === "recorded-model";
  return createElement(
    "p",
    { class: isModel ? "evidence" : "evidence caution", id: "evidence" },
    createElement("strong", {}, "evidence: ", createIsolatedText(evidence)),
    EVIDENCE_DESCRIPTIONS[evidence] === undefined ? "" : ` — ${EVIDENCE_DESCRIPTIONS[evidence]}`,
  );
}

function renderRunStatistics(overview: RunStatistics, model: RunModel): HTMLElement[] {
  const { accuracy, samples, measures, ledger, figures, timePerSample } = overview;
  const correct = Math.round((accuracy?.value ?? 0) * samples.done);
  return [
    ...(accuracy
      ? [
          renderLabeledStatistic(
            "accuracy",
            formatPercent(accuracy.value),
            `${formatCount(correct)} of ${formatCount(samples.done)}, 95 % interval ${formatPercent(accuracy.low)} to ${formatPercent(accuracy.high)}`,
          ),
        ]
      : []),
    ...Object.entries(measures).map(([name, mean]) => renderLabeledStatistic(name, mean.toFixed(3), "mean")),
    renderLabeledStatistic(
      "problems",
      formatCount(samples.total),
      [
        samples.done === samples.total ? "all done" : `${formatCount(samples.done)} done`,
        ...(samples.failed > 0 ? [`${formatCount(samples.failed)} wrong because of an error`] : []),
        ...(samples.skipped > 0 ? [`${formatCount(samples.skipped)} skipped because of an error`] : []),
      ].join(", "),
    ),
    renderLabeledStatistic(
      "cards",
      formatCount(figures?.cards ?? 0),
      [
        overview.errorCount + overview.partialCount === 0
          ? "no errors"
          : `${pluralize(overview.errorCount, "error")}, ${formatCount(overview.partialCount)} partial`,
        ...(model.abandonedCardCount > 0
          ? [`${formatCount(model.abandonedCardCount)} more in abandoned attempts`]
          : []),
      ].join("; "),
    ),
    renderTokenStatistic(overview),
    ...(timePerSample
      ? [renderLabeledStatistic("time", formatDuration(timePerSample.median), "median per problem")]
      : []),
    renderTokenComparisonStatus(ledger),
  ];
}

function renderTokenStatistic({ tokens }: RunStatistics): HTMLElement {
  const { perSample, estimated, unknownCards, isReported } = tokens;
  const unknown = `${pluralize(unknownCards, "card")} with unknown tokens`;
  if (!isReported)
    return renderLabeledStatistic("tokens", "–", unknownCards > 0 ? unknown : "no card reports tokens");
  const notes = [
    ...(perSample ? [`${formatCount(Math.round(perSample.mean))} per problem`] : []),
    ...(estimated > 0 ? [`${formatCount(estimated)} estimated`] : []),
    ...(unknownCards > 0 ? [`at least: ${unknown}`] : []),
  ];
  return renderLabeledStatistic("tokens", formatTokenTotal(tokens), notes.join(", "));
}

function renderTokenComparisonStatus(ledger: RunStatistics["ledger"]): HTMLElement {
  if (!ledger) return renderLabeledStatistic("ledger", "–", "no model calls recorded");
  if (!ledger.ok)
    return renderLabeledStatistic(
      "ledger",
      "off",
      `in ${pluralize(ledger.mismatches.length, "place")}`,
      "bad",
    );
  const rest = ledger.unchecked.length > 0 ? `; not recorded: ${ledger.unchecked.join(", ")}` : "";
  return renderLabeledStatistic("ledger", "balanced", `cards match model calls${rest}`, "good");
}

function renderLabeledStatistic(name: string, value: string, note: string, kind = ""): HTMLElement {
  return createElement(
    "div",
    { class: `figure ${kind}` },
    createElement("dt", {}, createIsolatedText(name)),
    createElement(
      "dd",
      {},
      createElement("span", { class: "value" }, value),
      createElement("span", { class: "note" }, note),
    ),
  );
}

function getRunState(model: RunModel, isLive: boolean): { kind: string; label: string } {
  if (!model.run && model.cardCount === 0)
    return { kind: "running", label: isLive ? "waiting for the run to start" : "empty" };
  const torn = model.tornLineCount > 0 ? `, ${pluralize(model.tornLineCount, "line")} unreadable` : "";
  const degraded = model.ends.some(({ recorder }) => recorder === "degraded") ? ", record incomplete" : "";
  if (model.runEndStatus)
    return { kind: model.runEndStatus, label: `${model.runEndStatus}${degraded}${torn}` };
  if (isLive) return { kind: "running", label: `running${torn}` };
  if (!model.run) return { kind: "", label: `cards without a run record${torn}` };
  return { kind: "interrupted", label: `no recorded end: killed or still running${torn}` };
}
