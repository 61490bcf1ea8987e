import { FINDINGS, type FindingKind, type Report } from "../../cards/index.ts";
import { counted, duration, number, percent, shareOf, table } from "./table.ts";

/** Of a list, so many; the rest is in `--json`. */
const SHOWN = 8;

/** A report as text: blocks of what belongs together, each left out when there is nothing to say. */
export function statsText(report: Report, name: string): string {
  const blocks = [
    heading(report, name),
    achieved(report),
    tokens(report),
    time(report),
    findings(report),
    checks(report),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

function heading({ run, samples, ends }: Report, name: string): string {
  if (!run) return `${name}: ${counted(samples.total, "problem")}\n`;
  const words = [run.dataset, run.split, run.method, run.mode].filter((word) => word !== undefined);
  const models = Object.entries(run.model).map(([role, model]) => `${role} ${model}`);
  const open = samples.open > 0 ? `, ${samples.open} begun` : "";
  return table([
    [words.join(" "), `run ${run.run_id}, ${run.at}`],
    ["evidence", run.evidence],
    ["models", models.join(", ") || "–"],
    [
      "problems",
      `${samples.done} of ${samples.total} done${open}; ${ends.at(-1) ?? "no end: killed, or still at it"}`,
    ],
  ]);
}

function achieved({ accuracy, samples, run, measures, figures, seed }: Report): string {
  const rows: string[][] = [];
  if (accuracy) {
    const count = Math.round(accuracy.value * samples.done);
    rows.push(["accuracy", shareOf(accuracy), `${count} of ${samples.done} by ${run?.rule ?? "?"}`]);
  }
  for (const [name, value] of Object.entries(measures)) rows.push([name, percent(value)]);
  if (figures) {
    const { solverTasks, solverSuccess, completion, errorsByType } = figures;
    if (completion) rows.push(["completed", shareOf(completion), "problems with a result completed"]);
    rows.push(["solver succeeded", shareOf(solverSuccess), "of its results to the planner"]);
    if (solverTasks)
      rows.push([
        "solver tasks",
        number(solverTasks.mean, 2),
        `a problem; median ${number(solverTasks.median, 1)}, p95 ${number(solverTasks.p95, 1)}`,
      ]);
    rows.push(["cards", number(figures.cards), counts(figures.byType)]);
    if (Object.keys(errorsByType).length > 0) rows.push(["errors", "", counts(errorsByType)]);
  }
  if (seed)
    rows.push([
      "seed formulas",
      "",
      `turns ${number(seed.avg_turns, 2)}, solver success ${percent(seed.solver_success_rate)}, completion ${percent(seed.overall_completion_rate)}`,
    ]);
  return table(rows);
}

function tokens({ tokens: report, spending }: Report): string {
  const { sum, perSample, estimatedShare = 0, price } = report;
  const total = sum.input + sum.output;
  if (report.total === 0) return "";
  const rows = (total > 0 ? spending : [])
    .filter(({ input, output, ms }) => input + output + ms > 0)
    .slice(0, SHOWN * 2)
    .map(({ role, turn, cards, input, output, cached, ms }) => [
      role,
      turn === undefined ? "" : String(turn),
      number(cards),
      number(input),
      number(cached),
      number(output),
      total > 0 ? percent((input + output) / total) : "–",
      duration(ms),
    ]);
  const notes = [
    report.total > total && `${number(report.total - total)} tokens on cards that tell only their sum`,
    perSample &&
      `a problem: mean ${number(perSample.mean)}, median ${number(perSample.median)}, p95 ${number(perSample.p95)} tokens`,
    estimatedShare > 0 && `${percent(estimatedShare)} of the tokens are estimates`,
    price !== undefined && `price ${number(price, 4)} by the tariff`,
  ].filter((note) => typeof note === "string");
  const head = ["role", "turn", "cards", "input", "cached", "output", "share", "time"];
  const all = ["all", "", "", number(sum.input), number(sum.cached), number(sum.output), "", ""];
  return (
    (total > 0 ? table([head, ...rows, all], "lrrrrrrr") : "") + notes.map((note) => `${note}\n`).join("")
  );
}

function time({ time: { perSample, bottlenecks, roles, latency } }: Report): string {
  if (!perSample || bottlenecks.length === 0) return "";
  const longest = bottlenecks
    .filter(({ share }) => share >= 0.01)
    .slice(0, SHOWN)
    .map(({ kind, who, turn, share, ms }) => [
      percent(share),
      kind === "travel" ? `${who}, on the way` : `${who}${turn === undefined ? "" : `, turn ${turn}`}`,
      duration(ms),
    ]);
  return (
    `time a problem: mean ${duration(perSample.mean)}, median ${duration(perSample.median)}, p95 ${duration(perSample.p95)}; what it waited for:\n` +
    table(longest, "rlr") +
    table(
      [
        ["role", "at work", "waiting"],
        ...roles.map(({ role, workingMs, waitingMs }) => [role, duration(workingMs), duration(waitingMs)]),
      ],
      "lrr",
    ) +
    table(
      [
        ["replies", "", "p50", "p95"],
        ...latency.map(({ edge, replies, p50, p95 }) => [
          edge,
          number(replies),
          duration(p50),
          duration(p95),
        ]),
      ],
      "lrrr",
    )
  );
}

function findings({ found, findings }: Report): string {
  return table(
    Object.entries(found).map(([kind, count]) => {
      const { mast, about } = FINDINGS[kind as FindingKind];
      const where = new Set(findings.flatMap((one) => (one.kind === kind ? (one.sample_id ?? []) : [])));
      const first = [...where].slice(0, 3).join(", ") + (where.size > 3 ? " …" : "");
      return [String(count), `${about}${mast === undefined ? "" : ` (MAST ${mast})`}`, first];
    }),
    "rll",
  );
}

function checks({ ledger, broken, unknown, abandoned, clocks, torn }: Report): string {
  const lines: string[] = [];
  if (ledger) {
    lines.push(
      ledger.ok
        ? `ledger: ok, the tokens on the cards are those of the calls (${ledger.checked} sums)`
        : `ledger: ${ledger.mismatches.length} of ${ledger.checked} sums differ`,
    );
    for (const { sample_id, role, cards, calls, card_ids } of ledger.mismatches.slice(0, SHOWN))
      lines.push(
        `  ${sample_id ?? "no problem"} ${role}: cards ${cards.input}+${cards.output}, calls ${calls.input}+${calls.output} (${card_ids.join(", ")})`,
      );
  }
  if (abandoned.cards + abandoned.calls > 0)
    lines.push(
      `not counted: ${counted(abandoned.cards, "card")} and ${counted(abandoned.calls, "call")} (${number(abandoned.tokens.input + abandoned.tokens.output)} tokens) of attempts that were interrupted`,
    );
  for (const { file, moved_ms, low_ms, high_ms } of clocks)
    lines.push(
      `clock of ${file}: moved by ${moved_ms.toFixed(0)} ms (${low_ms.toFixed(0)} to ${high_ms.toFixed(0)} fit)`,
    );
  for (const { file, line, why } of torn.slice(0, SHOWN)) lines.push(`torn line: ${file}:${line} (${why})`);
  for (const what of unknown) lines.push(`not known: ${what}`);
  for (const what of broken) lines.push(`broken: ${what}`);
  return table(lines.map((line) => [line]));
}

function counts(record: Readonly<Record<string, number>>): string {
  return Object.entries(record)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}
