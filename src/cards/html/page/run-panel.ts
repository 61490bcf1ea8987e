import { FINDINGS } from "../../statistics/index.ts";
import type { Overview } from "../overview.ts";
import type { PageSample } from "../run-model.ts";
import { summaryOf } from "../summary.ts";
import { html, said } from "./dom.ts";
import { aggregateView } from "./graph-view.ts";
import { count, duration, percent } from "./words.ts";

/** The whole run: who sent how much to whom, where tokens and time went, which problems took longest. */
export function runPanel(
  overview: Overview,
  samples: readonly PageSample[],
  choose: (id: string) => void,
): HTMLElement[] {
  const slowest = samples
    .filter(({ cards }) => cards.length > 0)
    .map((sample) => ({ sample, summary: summaryOf(sample) }))
    .toSorted((a, b) => b.summary.ms - a.summary.ms)
    .slice(0, 8);
  return [
    section("Who sent how much to whom", html("div", { class: "scroll" }, aggregateView(overview.edges))),
    section(
      "Where tokens and time went",
      table(
        ["role", "turn", "cards", "input", "cached", "output", "time", "share"],
        overview.spending.map((one) => [
          said(one.role),
          one.turn === undefined ? "–" : String(one.turn),
          count(one.cards),
          count(one.input),
          count(one.cached),
          count(one.output),
          duration(one.ms),
          percent(one.share),
        ]),
      ),
    ),
    ...(overview.waits.length > 0
      ? [
          section(
            "What answers waited for",
            table(
              ["who", "turn", "time", "share"],
              overview.waits
                .slice(0, 6)
                .map(({ kind, who, turn, ms, share }) => [
                  said(kind === "work" ? who : `on the way, ${who}`),
                  turn === undefined ? "–" : String(turn),
                  duration(ms),
                  percent(share),
                ]),
            ),
          ),
        ]
      : []),
    ...(overview.found.size > 0
      ? [
          section(
            "What stands out",
            table(
              ["what", "how often", "first in"],
              [...overview.found].map(([kind, found]) => [
                html("span", { class: FINDINGS[kind].broken ? "broken" : "" }, FINDINGS[kind].about),
                count(found.length),
                html(
                  "span",
                  {},
                  ...[...new Set(found.map(({ sample_id = "" }) => sample_id))]
                    .slice(0, 4)
                    .flatMap((id) => [link(id, choose), " "]),
                ),
              ]),
            ),
          ),
        ]
      : []),
    section(
      "The slowest problems",
      table(
        ["problem", "time", "tokens", "cards", "answer", "gold"],
        slowest.map(({ sample, summary }) => [
          link(sample.id, choose),
          duration(summary.ms),
          count(summary.tokens),
          count(summary.cards),
          said(sample.score?.predicted ?? "–"),
          said(sample.score?.gold ?? "–"),
        ]),
      ),
    ),
  ];
}

function link(id: string, choose: (id: string) => void): HTMLElement {
  return html(
    "button",
    { type: "button", class: "link", onclick: () => choose(id) },
    said(id === "" ? "(no problem)" : id),
  );
}

function section(title: string, ...content: readonly HTMLElement[]): HTMLElement {
  return html("section", {}, html("h2", {}, title), ...content);
}

function table(head: readonly string[], rows: readonly (readonly (string | HTMLElement)[])[]): HTMLElement {
  return html(
    "div",
    { class: "scroll" },
    html(
      "table",
      {},
      html("thead", {}, html("tr", {}, ...head.map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map((cell) => html("td", {}, cell))))),
    ),
  );
}
