import type { DeliveryResult, WebhookNotification } from "../../src/webhooks/index.ts";
import type { Chance } from "./chance.ts";
import type { PromiseChecks } from "./promise-checks.ts";
import type { StepOwner, VirtualTime } from "./virtual-time.ts";

/** Receives all webhooks, and checks that each webhook receives the events of its task in order (E12). */
export class WebhookReceiver {
  isDown = false;
  /** Numbers of the received events, by webhook. */
  readonly received: Map<string, Set<number>> = new Map();
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  readonly #checks: PromiseChecks;

  constructor(time: VirtualTime, chance: Chance, checks: PromiseChecks) {
    this.#time = time;
    this.#chance = chance;
    this.#checks = checks;
  }

  /** Sends a notification from a process. The receiver can have it although the process receives an error. */
  deliver(owner: StepOwner, notification: WebhookNotification, signal: AbortSignal): Promise<DeliveryResult> {
    return new Promise((resolve) => {
      const answer = (result: DeliveryResult): void =>
        void this.#time.schedule("webhook answer", this.#chance.between(1, 20), () => resolve(result), owner);
      signal.addEventListener("abort", () => resolve({ ok: false, reason: "aborted" }), { once: true });
      this.#time.schedule("webhook arrives", this.#chance.between(1, 20), () => {
        if (this.isDown) return answer({ ok: false, reason: "HTTP 503" });
        this.#receive(notification);
        answer(this.#chance.isTrue(0.02) ? { ok: false, reason: "the connection broke" } : { ok: true });
      });
    });
  }

  #receive({ webhook: { taskId, config }, event }: WebhookNotification): void {
    this.#checks.checkReadEvent(taskId, event, false);
    const key = `${taskId} ${config.id}`;
    const seqs = this.received.get(key) ?? new Set();
    this.received.set(key, seqs);
    // Later attempts repeat events, but no event may be skipped.
    const events = this.#checks.histories.get(taskId)?.events ?? [];
    for (let seq = 1; seq < event.seq && !seqs.has(event.seq); seq++)
      if (!seqs.has(seq) && !("message" in (events[seq - 1]?.event ?? {})))
        return this.#checks.breakPromise(
          "E12",
          `webhook ${key} receives event ${event.seq} before event ${seq}`,
        );
    seqs.add(event.seq);
  }

  /** Describes an event that a webhook has not received, if there is one. */
  describeMissingEvent(): string | undefined {
    for (const [taskId, { events, hasWebhook }] of this.#checks.histories)
      for (const { seq, event } of hasWebhook ? events : [])
        if (!("message" in event) && !this.received.get(`${taskId} w`)?.has(seq))
          return `webhook ${taskId} w has not received event ${seq}`;
    return undefined;
  }
}
