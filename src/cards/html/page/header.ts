import type { Overview } from "../overview.ts";
import type { RunModel } from "../run-model.ts";
import { html, said } from "./dom.ts";
import { count, duration, EVIDENCE, percent, some } from "./words.ts";

/** What the run is, and how it stands. */
export function headerOf(model: RunModel, overview: Overview, title: string, isLive: boolean): HTMLElement[] {
  const { run } = model;
  return [
    html(
      "div",
      { class: "title" },
      html("h1", {}, said(run?.run_id ?? title)),
      html("span", { class: `state ${stateOf(model, isLive).kind}` }, stateOf(model, isLive).words),
    ),
    ...(run
      ? [
          html(
            "p",
            { class: "facts" },
            ...factsOf(run, model).flatMap(([name, value]) => [
              html("span", { class: "fact" }, html("span", { class: "name" }, name), said(value)),
            ]),
          ),
          evidenceOf(run.evidence),
        ]
      : []),
    html("dl", { class: "figures" }, ...figuresOf(overview, model)),
  ];
}

function factsOf(run: NonNullable<RunModel["run"]>, { clocks }: RunModel): [string, string][] {
  return [
    ["dataset", [run.dataset, run.split].filter(Boolean).join(" ")],
    ["method", [run.method, run.mode, run.context && `context ${run.context}`].filter(Boolean).join(" · ")],
    ...groupedModels(run.model),
    ["scored by", run.rule],
    ["colloquy", run.code],
    ...(clocks
      ? [
          ["clocks", `of ${count(clocks.files)} files, moved by up to ${duration(clocks.moved)}`] as [
            string,
            string,
          ],
        ]
      : []),
  ];
}

/** Roles of the same model together: `planner, solver: oracle`. */
function groupedModels(models: Readonly<Record<string, string>>): [string, string][] {
  return [...Map.groupBy(Object.entries(models), ([, model]) => model)].map(([model, roles]) => [
    roles.map(([role]) => role).join(", "),
    model,
  ]);
}

function evidenceOf(evidence: string): HTMLElement {
  const isModel = evidence === "live-model" || evidence === "recorded-model";
  return html(
    "p",
    { class: isModel ? "evidence" : "evidence caution", id: "evidence" },
    html("strong", {}, "evidence: ", said(evidence)),
    EVIDENCE[evidence] === undefined ? "" : ` — ${EVIDENCE[evidence]}`,
  );
}

function figuresOf(overview: Overview, model: RunModel): HTMLElement[] {
  const { accuracy, done, problems, correct, measures, ledger } = overview;
  return [
    ...(accuracy
      ? [
          figure(
            "accuracy",
            percent(accuracy.value),
            `${count(correct)} of ${count(done)}, 95 % interval ${percent(accuracy.low)} to ${percent(accuracy.high)}`,
          ),
        ]
      : []),
    ...Object.entries(measures).map(([name, mean]) => figure(name, mean.toFixed(3), "mean")),
    figure("problems", count(problems), done === problems ? "all done" : `${count(done)} done`),
    figure(
      "cards",
      count(overview.cards),
      [
        overview.errors + overview.partial === 0
          ? "no errors"
          : `${some(overview.errors, "error")}, ${count(overview.partial)} partial`,
        ...(model.abandoned > 0 ? [`${count(model.abandoned)} more of attempts that were begun again`] : []),
      ].join("; "),
    ),
    tokensFigure(overview),
    ...(overview.medianMs === undefined
      ? []
      : [figure("time", duration(overview.medianMs), "a problem, median")]),
    ledgerFigure(ledger),
  ];
}

function tokensFigure({ tokens, tokensEach, estimated }: Overview): HTMLElement {
  if (tokens === 0) return figure("tokens", "–", "no card tells of any");
  const notes = [
    ...(tokensEach === undefined ? [] : [`${count(Math.round(tokensEach))} a problem`]),
    ...(estimated > 0 ? [`${count(estimated)} estimated`] : []),
  ];
  return figure("tokens", count(tokens), notes.join(", "));
}

function ledgerFigure(ledger: Overview["ledger"]): HTMLElement {
  if (!ledger) return figure("ledger", "–", "no model call on record");
  if (!ledger.ok) return figure("ledger", "off", `in ${some(ledger.mismatches.length, "place")}`, "bad");
  const rest = ledger.unchecked.length > 0 ? `; not on record: ${ledger.unchecked.join(", ")}` : "";
  return figure("ledger", "balanced", `cards tell what calls spent${rest}`, "good");
}

function figure(name: string, value: string, note: string, kind = ""): HTMLElement {
  return html(
    "div",
    { class: `figure ${kind}` },
    html("dt", {}, said(name)),
    html("dd", {}, html("span", { class: "value" }, value), html("span", { class: "note" }, note)),
  );
}

function stateOf(model: RunModel, isLive: boolean): { kind: string; words: string } {
  if (!model.run && model.cards === 0)
    return { kind: "running", words: isLive ? "waiting for the run to begin" : "empty" };
  const torn = model.torn > 0 ? `, ${some(model.torn, "line")} unreadable` : "";
  const degraded = model.ends.some(({ recorder }) => recorder === "degraded") ? ", record incomplete" : "";
  if (model.ended) return { kind: model.ended, words: `${model.ended}${degraded}${torn}` };
  if (isLive) return { kind: "running", words: `running${torn}` };
  if (!model.run) return { kind: "", words: `cards without a run${torn}` };
  return { kind: "interrupted", words: `no end on record: killed, or still running${torn}` };
}
