import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { CardInspector } from "./card-inspector.tsx";
import { FilterForm, SampleList } from "./sample-list.tsx";
import { getSampleName } from "./model/run-model.ts";
import { RunHeader, RunOverview } from "./run-header.tsx";
import { hasContent, type RunView } from "./run-view.ts";
import { SampleView } from "./sample-view.tsx";
import { formatCount, pluralize } from "./text-format.ts";

/** The screen Cards: the message cards of a run, with statistics, diagrams, and findings. */
export function CardsScreen(): VNode {
  const { cardRun } = usePageState().source;
  if (!cardRun) return <p class="hint">This record contains no message cards.</p>;
  return <CardRun view={cardRun} />;
}

function CardRun({ view }: { readonly view: RunView }): VNode {
  const { announcement } = usePageState();
  const announce = (text: string): void => void (announcement.value = text);
  const { model, statistics } = view.run.value;
  const { sampleId, cardNumber } = view.state.value;
  const samples = view.samples.value;
  const filter = view.filter.value;
  const sample =
    sampleId === undefined ? undefined : model.findSample(sampleId === "" ? undefined : sampleId);
  const selectedCard = cardNumber === undefined ? undefined : sample?.timedCards[cardNumber - 1];
  const searchInput = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const selectSample = (id: string): void => view.updateState({ sampleId: id, cardNumber: undefined });
  const moveSample = (steps: number): void => {
    const selected = samples.findIndex(({ id }) => id === sampleId);
    const next = samples[Math.max(0, Math.min(samples.length - 1, selected + steps))];
    if (next) selectSample(getSampleName(next));
  };
  const moveCard = (steps: number): void => {
    const count = sample?.timedCards.length ?? 0;
    if (count === 0) return;
    const from = cardNumber ?? (steps > 0 ? 0 : count + 1);
    view.updateState({ cardNumber: Math.min(count, Math.max(1, from + steps)) });
  };
  const openOverview = (): void => view.updateState({ sampleId: undefined, cardNumber: undefined });
  const closeSelection = (): void =>
    view.updateState(cardNumber === undefined ? { sampleId: undefined } : { cardNumber: undefined });
  useHotkeys([
    { keys: "ArrowDown", label: "Next problem", run: () => moveSample(1) },
    { keys: "ArrowUp", label: "Previous problem", run: () => moveSample(-1) },
    { keys: "ArrowRight", label: "Next card", run: () => moveCard(1) },
    { keys: "ArrowLeft", label: "Previous card", run: () => moveCard(-1) },
    { keys: "l", label: "Next card", run: () => moveCard(1) },
    { keys: "h", label: "Previous card", run: () => moveCard(-1) },
    { keys: "/", label: "Filter", run: () => searchInput.current?.focus() },
    { keys: "o", label: "Overview of the run", run: openOverview },
    { keys: "Escape", label: "Close the card or the problem", run: closeSelection },
  ]);

  const runTitle = model.run?.run_id ?? view.title;
  useEffect(() => void (document.title = `${runTitle} · cards`), [runTitle]);
  useEffect(() => {
    if (view.isLive && !view.isConnected.value) announce("Connection lost. Reconnecting.");
  }, [view.isConnected.value]);
  useLayoutEffect(() => {
    const selected =
      cardNumber === undefined ? undefined : document.querySelector("#picture [aria-pressed=true]");
    if (!selected) return;
    selected.scrollIntoView({ block: "nearest", inline: "nearest" });
    announce(selected.getAttribute("aria-description") ?? "");
  }, [sampleId, cardNumber]);

  const total = model.samples.filter(hasContent).length;
  const looks = sample ? (selectedCard ? "card" : "sample") : "run";
  return (
    <div class="cards-screen" data-looks={looks}>
      <div class="run-head">
        <RunHeader
          model={model}
          statistics={statistics}
          title={view.title}
          isLive={view.isLive}
          isConnected={view.isConnected.value}
        />
      </div>
      <section id="list" aria-label="Problems">
        <FilterForm
          statistics={statistics}
          filter={filter}
          onChange={(changed) => (view.filter.value = changed)}
          onLeave={() => list.current?.focus()}
          searchInput={searchInput}
        />
        <div class="list-head">
          <button
            type="button"
            class="link"
            aria-pressed={sample === undefined}
            title="o"
            onClick={openOverview}
          >
            Entire run
          </button>
          <span id="matches" role="status">
            {samples.length === total
              ? pluralize(total, "problem")
              : `${formatCount(samples.length)} of ${pluralize(total, "problem")}`}
          </span>
        </div>
        <SampleList samples={samples} selectedId={sampleId} onSelect={selectSample} list={list} />
      </section>
      <section id="middle" aria-label={sample ? "Problem" : "Run"}>
        {sample && (
          <button type="button" class="back" onClick={openOverview}>
            ‹ All problems
          </button>
        )}
        {sample ? (
          <SampleView
            sample={sample}
            model={model}
            selectedCard={selectedCard}
            onSelectCard={(seen) => view.updateState({ cardNumber: sample.timedCards.indexOf(seen) + 1 })}
          />
        ) : (
          <div id="picture">
            <RunOverview statistics={statistics} onSelectSample={selectSample} />
          </div>
        )}
      </section>
      <section id="card" aria-label="Card">
        {sample && selectedCard && (
          <>
            <button type="button" class="close quiet" aria-label="Close the card" onClick={closeSelection}>
              ×
            </button>
            <CardInspector
              sample={sample}
              pageCard={selectedCard}
              onSelect={(seen) => view.updateState({ cardNumber: sample.timedCards.indexOf(seen) + 1 })}
            />
          </>
        )}
        {sample && !selectedCard && (
          <p class="hint">Select a card to see its details. Use ← and → to move between cards.</p>
        )}
      </section>
    </div>
  );
}
