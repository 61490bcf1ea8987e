import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AgentText } from "./agent-text.tsx";
import { LabeledValue } from "../flow/labeled-value.tsx";
import type { RunModel } from "./model/run-model.ts";
import { describeRunState } from "./model/run-state.ts";
import type { RunStatistics } from "./model/run-statistics.ts";
import { listRunFigures } from "./run-figures.ts";
import { EVIDENCE_DESCRIPTIONS } from "./text-format.ts";

interface RunHeaderProps {
  readonly model: RunModel;
  readonly statistics: RunStatistics;
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
