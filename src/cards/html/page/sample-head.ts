import type { PageSample, SeenCard } from "../run-model.ts";
import { summaryOf } from "../summary.ts";
import { html, said } from "./dom.ts";
import { count, duration, some } from "./words.ts";

/** What a problem is and how it ended, above its pictures. */
export function sampleHead(sample: PageSample, critical: readonly SeenCard[]): HTMLElement[] {
  const summary = summaryOf(sample);
  const { score } = sample;
  const [first] = critical;
  const last = critical.at(-1);
  return [
    html("h2", { id: "sample-title", tabindex: -1 }, said(sample.id === "" ? "(no problem)" : sample.id)),
    html("p", { class: "question", dir: "auto" }, said(summary.question)),
    html(
      "p",
      { class: "facts" },
      ...(score
        ? [
            html("span", { class: `verdict ${summary.outcome}` }, summary.outcome),
            fact("answer", score.predicted ?? "none found"),
            fact("gold", score.gold),
            ...Object.entries(score.measures ?? {}).map(([name, value]) => fact(name, value.toFixed(3))),
          ]
        : [html("span", { class: "verdict" }, "not scored")]),
      fact("cards", count(summary.cards)),
      fact("tokens", count(summary.tokens)),
      fact("time", duration(summary.ms)),
      ...(first && last
        ? [
            fact(
              "critical path",
              `${some(critical.length, "card")}, ${duration(last.arrived - first.sent)}, drawn bold`,
            ),
          ]
        : []),
    ),
  ];
}

function fact(name: string, value: string): HTMLElement {
  return html("span", { class: "fact" }, html("span", { class: "name" }, name), said(value));
}
