import { RUN_FINDING_KINDS } from "../../statistics/index.ts";
import type { RunStatistics } from "../run-statistics.ts";
import type { PageSample } from "../run-model.ts";
import { summarizeSample } from "../sample-summary.ts";
import { createElement, createIsolatedText } from "./dom.ts";
import { renderRoleGraph } from "./graph-view.ts";
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatSampleId,
  formatTokenTotal,
} from "./text-format.ts";

/**
 * Renders the overview of the entire run: the role graph, token counts, times, bottlenecks, findings, and the
 * slowest problems.
 */
export function renderRunOverview(
  overview: RunStatistics,
  samples: readonly PageSample[],
  choose: (id: string) => void,
): HTMLElement[] {
  const slowest = samples
    .filter(({ cards }) => cards.length > 0)
    .map((sample) => ({ sample, summary: summarizeSample(sample) }))
    .toSorted((a, b) => b.summary.durationMs - a.summary.durationMs)
    .slice(0, 8);
  return [
    renderSection(
      "Cards between roles",
      createElement("div", { class: "scroll" }, renderRoleGraph(overview.roleEdges)),
    ),
    renderSection(
      "Tokens and time by role",
      renderTable(
        ["role", "turn", "cards", "input", "cached", "output", "time", "share"],
        overview.spending.map((one) => [
          createIsolatedText(one.role),
          one.turn === undefined ? "–" : String(one.turn),
          formatCount(one.cards),
          formatCount(one.input),
          formatCount(one.cached),
          formatCount(one.output),
          formatDuration(one.ms),
          formatPercent(one.share),
        ]),
      ),
    ),
    ...(overview.bottlenecks.length > 0
      ? [
          renderSection(
            "Bottlenecks",
            renderTable(
              ["role", "turn", "time", "share"],
              overview.bottlenecks
                .slice(0, 6)
                .map(({ kind, who, turn, ms, share }) => [
                  createIsolatedText(kind === "work" ? who : `in transit, ${who}`),
                  turn === undefined ? "–" : String(turn),
                  formatDuration(ms),
                  formatPercent(share),
                ]),
            ),
          ),
        ]
      : []),
    ...(overview.findings.length > 0
      ? [
          renderSection(
            "Findings",
            renderTable(
              ["finding", "count", "problems"],
              [...Map.groupBy(overview.findings, ({ kind }) => kind)].map(([kind, found]) => [
                createElement(
                  "span",
                  { class: RUN_FINDING_KINDS[kind].isViolation ? "broken" : "" },
                  RUN_FINDING_KINDS[kind].description,
                ),
                formatCount(found.length),
                createElement(
                  "span",
                  {},
                  ...[...new Set(found.map(({ sample_id = "" }) => sample_id))]
                    .slice(0, 4)
                    .flatMap((id) => [renderSampleLink(id, choose), " "]),
                ),
              ]),
            ),
          ),
        ]
      : []),
    renderSection(
      "Slowest problems",
      renderTable(
        ["problem", "time", "tokens", "cards", "answer", "gold"],
        slowest.map(({ sample, summary }) => [
          renderSampleLink(sample.id, choose),
          formatDuration(summary.durationMs),
          formatTokenTotal(summary.tokens),
          formatCount(summary.cardCount),
          createIsolatedText(sample.score?.predicted ?? "–"),
          createIsolatedText(sample.score?.gold ?? "–"),
        ]),
      ),
    ),
  ];
}

function renderSampleLink(id: string, choose: (id: string) => void): HTMLElement {
  return createElement(
    "button",
    { type: "button", class: "link", onclick: () => choose(id) },
    createIsolatedText(formatSampleId(id)),
  );
}

function renderSection(title: string, ...content: readonly HTMLElement[]): HTMLElement {
  return createElement("section", {}, createElement("h2", {}, title), ...content);
}

function renderTable(
  head: readonly string[],
  rows: readonly (readonly (string | HTMLElement)[])[],
): HTMLElement {
  return createElement(
    "div",
    { class: "scroll" },
    createElement(
      "table",
      {},
      createElement(
        "thead",
        {},
        createElement("tr", {}, ...head.map((name) => createElement("th", { scope: "col" }, name))),
      ),
      createElement(
        "tbody",
        {},
        ...rows.map((row) => createElement("tr", {}, ...row.map((cell) => createElement("td", {}, cell)))),
      ),
    ),
  );
}
