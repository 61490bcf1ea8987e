import type { VNode, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type RunReport, RUN_FINDING_KINDS } from "../../../cards/index.ts";
import { AgentText } from "./agent-text.tsx";
import { LabeledValue } from "../flow/labeled-value.tsx";
import { type RunModel, describeRunState, summarizeSample } from "./model/run-model.ts";
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatTokenTotal,
  pluralize,
  formatSampleId,
} from "./text-format.ts";
import { FigureTable } from "../flow/figure-table.tsx";

interface RunHeaderProps {
  readonly model: RunModel;
  readonly statistics: RunReport;
  readonly title: string;
  readonly isLive: boolean;
  readonly isConnected: boolean;
}

/** The description, the state, and the figures of the run. */
export function RunHeader({ model, statistics, title, isLive, isConnected }: RunHeaderProps): VNode {
  const { run } = model;
  const now = useCurrentTime(isLive && model.endStatus === undefined);
  const state = describeRunState(model, isLive, now);
  return (
    <div id="run" class={isConnected ? undefined : "away"}>
      <div class="title">
        <h1>
          <AgentText text={run?.run_id ?? title} />
        </h1>
        <span class={`state ${state.kind}`} data-testid="run-state">
          {state.label}
        </span>
      </div>
      {run && (
        <p class="card-facts">
          {listRunFields(run).map(([name, value]) => (
            <LabeledValue key={name} name={name} value={value} />
          ))}
        </p>
      )}
      {run && <AnswerSource evidence={run.evidence} />}
      <dl class="figures">
        {listRunFigures(statistics, model).map(({ name, value, note, kind = "" }) => (
          <div key={name} class={`figure ${kind}`}>
            <dt>
              <AgentText text={name} />
            </dt>
            <dd>
              <span class="value">{value}</span>
              <AgentText class="note" text={note} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Returns the current time in milliseconds since 1970, and renders again each second while `isRunning`. */
function useCurrentTime(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

function AnswerSource({ evidence }: { readonly evidence: string }): VNode {
  const isModel = evidence === "live-model" || evidence === "recorded-model";
  const description = EVIDENCE_DESCRIPTIONS[evidence];
  return (
    <p id="evidence" class={isModel ? "evidence" : "evidence caution"}>
      <strong>
        evidence: <AgentText text={evidence} />
      </strong>
      {description !== undefined && ` — ${description}`}
    </p>
  );
}

function listRunFields(run: NonNullable<RunModel["run"]>): [name: string, value: string][] {
  const rolesByModel = Map.groupBy(Object.entries(run.model), ([, model]) => model);
  return [
    ["dataset", [run.dataset, run.split].filter(Boolean).join(" ")],
    ["method", [run.method, run.mode, run.context && `context ${run.context}`].filter(Boolean).join(" · ")],
    // For example `planner, solver: oracle`.
    ...[...rolesByModel].map(([model, roles]): [string, string] => [
      roles.map(([role]) => role).join(", "),
      model,
    ]),
    ["scored by", run.rule],
    ["colloquy", run.code],
  ];
}

/** Description of each kind of evidence for a run. */
const EVIDENCE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "live-model": "a live model answered",
  "recorded-model": "recorded answers of a model",
  oracle: "no model: the answers come from the dataset",
  simulated: "no model: the answers are scripted",
  heuristic: "no model: the answers come from rules",
};

/** A figure of the run with an explanation. */
interface LabeledFigure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly kind?: "good" | "bad";
}

/** Returns the figures that the header of a run shows. */
function listRunFigures(statistics: RunReport, model: RunModel): LabeledFigure[] {
  const { accuracy, samples, measures, figures, time } = statistics;
  const errorCount = Object.values(figures?.errorsByType ?? {}).reduce((sum, count) => sum + count, 0);
  const partialCount = model.samples.filter((sample) => summarizeSample(sample).isPartial).length;
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
    ...(time.perSample
      ? [{ name: "time", value: formatDuration(time.perSample.median), note: "median per problem" }]
      : []),
  ];
}

function describeTokens({ tokens }: RunReport): LabeledFigure {
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

const MAX_LINKED_SAMPLES = 4;

interface RunOverviewProps {
  readonly statistics: RunReport;
  readonly onSelectSample: (id: string) => void;
}

/** The tokens and the times by role, and the findings of a run. */
export function RunOverview({ statistics, onSelectSample }: RunOverviewProps): VNode {
  const findings = [...Map.groupBy(statistics.findings, ({ kind }) => kind)];
  const sampleLink = (id: string): VNode => (
    <button type="button" class="link" onClick={() => onSelectSample(id)}>
      <AgentText text={formatSampleId(id)} />
    </button>
  );
  return (
    <div class="run-overview">
      <Section title="Tokens and time by role">
        <FigureTable
          head={["role", "turn", "cards", "input", "cached", "output", "time", "share"]}
          rows={statistics.spending.map((one) => [
            <AgentText text={one.role} />,
            one.turn === undefined ? "–" : String(one.turn),
            formatCount(one.cards),
            formatTokenTotal({ total: one.input, unknownCards: one.unknownCards }),
            formatCount(one.cached),
            formatTokenTotal({ total: one.output, unknownCards: one.unknownCards }),
            formatDuration(one.ms),
            formatPercent(one.share),
          ])}
        />
      </Section>
      {findings.length > 0 && (
        <Section title="Findings">
          <FigureTable
            head={["finding", "count", "problems"]}
            rows={findings.map(([kind, found]) => {
              const ids = [...new Set(found.map(({ sample_id = "" }) => sample_id))];
              return [
                RUN_FINDING_KINDS[kind],
                formatCount(found.length),
                <span>{ids.slice(0, MAX_LINKED_SAMPLES).map((id) => [sampleLink(id), " "])}</span>,
              ];
            })}
          />
        </Section>
      )}
    </div>
  );
}

function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
