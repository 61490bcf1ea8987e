import type { SampleCriticalPathAndFindings } from "../sample-critical-path-and-findings.ts";
import type { PageSample } from "../run-model.ts";
import { computeCriticalPathDuration, RUN_FINDING_KINDS } from "../../statistics/index.ts";
import { createElement, createIsolatedText } from "./dom.ts";
import { formatCount, formatDuration, formatSampleId, formatTokenTotal, pluralize } from "./text-format.ts";

/** Renders the question, the outcome, and the statistics of a problem. */
export function renderSampleHeader(
  sample: PageSample,
  { summary, criticalPath, criticalCards, findings }: SampleCriticalPathAndFindings,
): HTMLElement[] {
  const { score } = sample;
  return [
    createElement("h2", { id: "sample-title", tabindex: -1 }, createIsolatedText(formatSampleId(sample.id))),
    createElement("p", { class: "question", dir: "auto" }, createIsolatedText(summary.question)),
    createElement(
      "p",
      { class: "facts" },
      ...(score
        ? [
            createElement("span", { class: `verdict ${summary.outcome}` }, summary.outcome),
            renderLabeledValue("answer", score.predicted ?? "none found"),
            renderLabeledValue("gold", score.gold),
            ...(score.error === undefined ? [] : [renderLabeledValue("error", score.error)]),
            ...Object.entries(score.measures ?? {}).map(([name, value]) =>
              renderLabeledValue(name, value.toFixed(3)),
            ),
          ]
        : sample.skip
          ? [
              createElement("span", { class: "verdict" }, "skipped"),
              renderLabeledValue("error", sample.skip.error),
            ]
          : [createElement("span", { class: "verdict" }, "not scored")]),
      renderLabeledValue("cards", formatCount(summary.cardCount)),
      renderLabeledValue("tokens", formatTokenTotal(summary.tokens)),
      renderLabeledValue("time", formatDuration(summary.durationMs)),
      ...(criticalPath.length > 0
        ? [
            renderLabeledValue(
              "critical path",
              `${pluralize(criticalCards.size, "card")}, ${formatDuration(computeCriticalPathDuration(criticalPath))}, shown in bold`,
            ),
          ]
        : []),
    ),
    ...findings.map(({ kind, what }) =>
      createElement(
        "p",
        { class: `finding${RUN_FINDING_KINDS[kind].isViolation ? " broken" : ""}` },
        createIsolatedText(what),
      ),
    ),
  ];
}

/** Renders a labeled value. */
export function renderLabeledValue(name: string, value: string): HTMLElement {
  return createElement(
    "span",
    { class: "fact" },
    createElement("span", { class: "name" }, name),
    createIsolatedText(value),
  );
}
