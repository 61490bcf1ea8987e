import type { Filter } from "../filter.ts";
import { rolesOf } from "../overview.ts";
import type { RunModel } from "../run-model.ts";
import { statusOf } from "../summary.ts";
import { html } from "./dom.ts";

const OUTCOMES = [
  ["", "any outcome"],
  ["correct", "correct"],
  ["wrong", "wrong"],
  ["unscored", "not scored"],
  ["errors", "with errors"],
  ["partial", "partial"],
] as const;

/** The controls above the list; tells when one of them changes. */
export class Filters {
  readonly element: HTMLFormElement;
  readonly search: HTMLInputElement;
  readonly #selects: Readonly<Record<"outcome" | "role" | "type" | "status", HTMLSelectElement>>;

  constructor(onchange: () => void) {
    this.search = html("input", {
      type: "search",
      id: "search",
      placeholder: "Filter by id or text",
      "aria-label": "Filter by id or text",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.#selects = {
      outcome: selectOf("outcome"),
      role: selectOf("role"),
      type: selectOf("type"),
      status: selectOf("status"),
    };
    this.element = html(
      "form",
      {
        role: "search",
        class: "filters",
        oninput: onchange,
        onsubmit: (event: Event) => event.preventDefault(),
      },
      this.search,
      html("div", { class: "selects" }, ...Object.values(this.#selects)),
    );
    offer(this.#selects.outcome, OUTCOMES);
  }

  get filter(): Filter {
    const { outcome, role, type, status } = this.#selects;
    return {
      text: this.search.value,
      outcome: OUTCOMES.find(([value]) => value === outcome.value)?.[0] ?? "",
      role: role.value,
      type: type.value,
      status: status.value,
    };
  }

  clear(): void {
    this.element.reset();
  }

  /** What there is to choose from, by the cards of the run. */
  know(model: RunModel): void {
    const cards = model.samples.flatMap((sample) => sample.cards.map(({ card }) => card));
    offer(this.#selects.role, choicesOf("any role", rolesOf(cards)));
    offer(this.#selects.type, choicesOf("any type", new Set(cards.map((card) => card.message_type))));
    offer(
      this.#selects.status,
      choicesOf("any status", new Set(cards.flatMap((card) => statusOf(card) ?? []))),
    );
  }
}

function selectOf(name: string): HTMLSelectElement {
  return html("select", { name, "aria-label": `Filter by ${name}` });
}

function choicesOf(any: string, values: Iterable<string>): (readonly [value: string, words: string])[] {
  return [["", any], ...[...values].map((value) => [value, value] as const)];
}

function offer(
  select: HTMLSelectElement,
  choices: readonly (readonly [value: string, words: string])[],
): void {
  if (select.options.length === choices.length) return;
  const chosen = select.value;
  select.replaceChildren(...choices.map(([value, words]) => html("option", { value }, words)));
  select.value = chosen;
}
