import { type Analysis, lengthOf } from "../analysis.ts";
import type { PageSample } from "../run-model.ts";
import { FINDINGS } from "../../statistics/index.ts";
import { html, said } from "./dom.ts";
import { count, duration, some } from "./words.ts";

/** What a problem is and how it ended, above its pictures. */
export function sampleHead(
  sample: PageSample,
  { summary, path, critical, findings }: Analysis,
): HTMLElement[] {
  const { score } = sample;
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
      ...(path.length > 0
        ? [fact("critical path", `${some(critical.size, "card")}, ${duration(lengthOf(path))}, drawn bold`)]
        : []),
    ),
    ...findings.map(({ kind, what }) =>
      html("p", { class: `finding${FINDINGS[kind].broken ? " broken" : ""}` }, said(what)),
    ),
  ];
}

function fact(name: string, value: string): HTMLElement {
  return html("span", { class: "fact" }, html("span", { class: "name" }, name), said(value));
}
