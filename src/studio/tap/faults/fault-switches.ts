import {
  type FaultableCall,
  type FaultRule,
  isRuleApplied,
  isRuleMatch,
  parseFaultRule,
} from "./fault-rule.ts";
import { createFaultPlan, type FaultPlan } from "./fault-plan.ts";

/** A rule that is switched on. */
export interface ActiveFaultRule {
  /** Id for `remove`, unique within the tap. */
  readonly id: string;
  readonly rule: FaultRule;
  /** Number of calls that the rule has matched. */
  readonly matchedCalls: number;
  /** Number of calls that the rule has affected. */
  readonly affectedCalls: number;
}

/** The fault rules of a tap, which can change while the tap runs. */
export class FaultSwitches {
  readonly #active = new Map<string, { -readonly [K in keyof ActiveFaultRule]: ActiveFaultRule[K] }>();
  #lastId = 0;

  /** Switches a rule on. Throws `INVALID_PARAMS` if the text is not a rule (see `parseFaultRule`). */
  add(text: string): ActiveFaultRule {
    const rule = parseFaultRule(text);
    const id = String(++this.#lastId);
    const active = { id, rule, matchedCalls: 0, affectedCalls: 0 };
    this.#active.set(id, active);
    return { ...active };
  }

  /** Switches a rule off. Returns `false` if no rule has the id. */
  remove(id: string): boolean {
    return this.#active.delete(id);
  }

  removeAll(): void {
    this.#active.clear();
  }

  list(): ActiveFaultRule[] {
    return [...this.#active.values()].map((active) => ({ ...active }));
  }

  /** Whether any rule is on. Without rules, the tap forwards requests before their bodies are complete. */
  get hasRules(): boolean {
    return this.#active.size > 0;
  }

  /** Counts a call, and returns the effects of all rules that affect the call. */
  planFaults(call: FaultableCall): FaultPlan {
    const effects = [];
    for (const active of this.#active.values()) {
      if (!isRuleMatch(active.rule, call)) continue;
      active.matchedCalls++;
      if (active.affectedCalls >= active.rule.times || !isRuleApplied(active.rule, active.matchedCalls))
        continue;
      active.affectedCalls++;
      effects.push(active.rule.effect);
    }
    return createFaultPlan(effects);
  }
}
