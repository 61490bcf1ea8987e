import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { checkSample } from "../../../cards/index.ts";
import { LabeledValue } from "../flow/labeled-value.tsx";
import { SequenceDiagram } from "../flow/sequence-diagram.tsx";
import { AgentText } from "./agent-text.tsx";
import { buildCardSequence, formatCardKey } from "./model/card-drawings.ts";
import {
  getSampleName,
  type PageCard,
  type PageSample,
  type RunModel,
  summarizeSample,
} from "./model/run-model.ts";
import { formatCount, formatDuration, formatSampleId, formatTokenTotal } from "./text-format.ts";

interface SampleViewProps {
  readonly sample: PageSample;
  readonly model: RunModel;
  readonly selectedCard: PageCard | undefined;
  readonly onSelectCard: (pageCard: PageCard) => void;
}

/** A problem of the run: its header, and its cards as a sequence. */
export function SampleView({ sample, model, selectedCard, onSelectCard }: SampleViewProps): VNode {
  const { timedCards: cards } = sample;
  // The cards of a sample change in place. Its version increases with each change.
  const drawing = useMemo(() => buildCardSequence(cards), [sample, sample.version]);
  return (
    <>
      <SampleHeader sample={sample} model={model} />
      <div id="picture">
        {cards.length === 0 ? (
          <p class="hint">This problem has no cards yet.</p>
        ) : (
          <SequenceDiagram
            {...drawing}
            label="Sequence diagram; each card is a button"
            selectedKey={selectedCard && formatCardKey(cards.indexOf(selectedCard))}
            onSelect={(key) => {
              const pageCard = cards[Number(key) - 1];
              if (pageCard) onSelectCard(pageCard);
            }}
          />
        )}
      </div>
    </>
  );
}

/** The question, the outcome, the figures, and the findings of a problem. */
function SampleHeader({ sample, model }: Pick<SampleViewProps, "sample" | "model">): VNode {
  const summary = summarizeSample(sample);
  const { findings, violations } = checkSample(sample, model.run);
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
