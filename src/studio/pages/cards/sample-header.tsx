import type { VNode } from "preact";
import { AgentText } from "./agent-text.tsx";
import { LabeledValue } from "../flow/labeled-value.tsx";
import { getSampleName, type PageSample } from "./model/run-model.ts";
import type { SampleAnalysis } from "./model/sample-analysis.ts";
import { formatCount, formatDuration, formatSampleId, formatTokenTotal } from "./text-format.ts";

interface SampleHeaderProps {
  readonly sample: PageSample;
  readonly analysis: SampleAnalysis;
}

/** The question, the outcome, the figures, and the findings of a problem. */
export function SampleHeader({ sample, analysis }: SampleHeaderProps): VNode {
  const { summary, findings, violations } = analysis;
  return (
    <div id="head">
      <h2 id="sample-title" tabIndex={-1}>
        <AgentText text={formatSampleId(getSampleName(sample))} />
      </h2>
      <p class="question" dir="auto">
        <AgentText text={summary.question} />
      </p>
      <p class="card-facts">
        <SampleOutcome sample={sample} outcome={summary.outcome} />
        <LabeledValue name="cards" value={formatCount(summary.cardCount)} />
        <LabeledValue name="tokens" value={formatTokenTotal(summary.tokens)} />
        <LabeledValue name="time" value={formatDuration(summary.durationMs)} />
      </p>
      {[
        ...violations.map((what) => ({ what, name: "finding broken" })),
        ...findings.map(({ what }) => ({ what, name: "finding" })),
      ].map(({ what, name }, index) => (
        <p key={index} class={name}>
          <AgentText text={what} />
        </p>
      ))}
    </div>
  );
}

function SampleOutcome({
  sample,
  outcome,
}: {
  readonly sample: PageSample;
  readonly outcome: string;
}): VNode {
  const { score, skip } = sample;
  if (score)
    return (
      <>
        <span class={`verdict ${outcome}`}>{outcome}</span>
        <LabeledValue name="answer" value={score.predicted ?? "none found"} />
        <LabeledValue name="gold" value={score.gold} />
        {score.outcome !== undefined && <LabeledValue name="outcome" value={score.outcome} />}
        {score.error !== undefined && <LabeledValue name="error" value={score.error} />}
        {Object.entries(score.measures ?? {}).map(([name, value]) => (
          <LabeledValue key={name} name={name} value={value.toFixed(3)} />
        ))}
      </>
    );
  if (skip)
    return (
      <>
        <span class="verdict">skipped</span>
        <LabeledValue name="error" value={skip.error} />
      </>
    );
  return <span class="verdict">not scored</span>;
}
