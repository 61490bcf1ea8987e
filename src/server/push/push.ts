import {
  Outbox,
  type EnginePush,
  type Observer,
  type RetryPolicy,
  type TaskStore,
} from "../../engine/index.ts";
import { checkWebhook } from "./check.ts";
import { Guard, type GuardOptions } from "./guard.ts";
import { Sender } from "./sender.ts";
import { PushSigner, type PushSigning } from "./signature.ts";

/** How push notifications are sent. Every member has a default that is safe on the public internet. */
export interface PushOptions extends GuardOptions {
  /** Sign notifications with this key; `/.well-known/jwks.json` has what they are verified with. Default: unsigned. */
  readonly sign?: PushSigning;
  /** Answer push configurations without their token and credentials. Default false: their owner may read them. */
  readonly redact?: boolean;
  /** How long an attempt may take, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Deliveries under way at once. Default 64. */
  readonly atOnce?: number;
  /** Deliveries under way at once to one host. Default 8. */
  readonly perHost?: number;
}

/** All that sends a server's push notifications. */
export interface Push extends EnginePush {
  readonly signer: PushSigner | undefined;
  close(graceMs: number): Promise<void>;
}

/** Undefined where there are no push notifications: they are not wanted, or the store can not keep their webhooks. */
export function createPush(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer | undefined,
): Push | undefined {
  if (options === false || !store.push) return undefined;
  const { sign, redact = false, timeoutMs = 15_000, retry, atOnce, perHost, ...rules } = options;
  const guard = new Guard(rules);
  const signer = sign && new PushSigner(sign);
  const sender = new Sender({ guard, timeoutMs, sign: signer?.sign });
  const outbox = new Outbox({
    store: store as TaskStore & { push: NonNullable<TaskStore["push"]> },
    deliver: sender.deliver,
    ...(observer ? { observer } : {}),
    ...(retry ? { retry } : {}),
    ...(atOnce === undefined ? {} : { atOnce }),
    ...(perHost === undefined ? {} : { perHost }),
  });
  return {
    outbox,
    check: checkWebhook(guard),
    redact,
    signer,
    close: async (graceMs) => {
      await outbox.close(graceMs);
      sender.close();
    },
  };
}
