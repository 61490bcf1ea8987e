import type { EnginePushOptions, Observer } from "../../engine/index.ts";
import type { ServerStore } from "../../stores/index.ts";
import {
  createEnginePushOptions,
  type NotificationSender,
  Outbox,
  type PushStore,
  type WebhookValidator,
} from "../../webhooks/index.ts";
import type { PushOptions } from "../server-options.ts";
import { WebhookUrlGuard } from "./webhook-url-guard.ts";
import { PushSigner, type NotificationSignFunction } from "./push-signer.ts";

/** The service that signs and sends the push notifications of a server. */
export interface PushService extends EnginePushOptions {
  readonly outbox: Outbox;
  readonly signer: PushSigner | undefined;
  close(graceMs: number): Promise<void>;
}

/** The parts of a push service that depend on the runtime. */
interface PushTransport {
  readonly deliver: NotificationSender;
  readonly validateWebhook: WebhookValidator;
  /** Closes all idle connections. */
  close(): void;
}

/** The options of a sender, with the default values of `PushOptions`. */
interface PushTransportOptions {
  readonly timeoutMs: number;
  readonly challenge: boolean;
  readonly sign: NotificationSignFunction | undefined;
}

/**
 * Creates the push service of a server with a transport. Returns `undefined` if push notifications are disabled or the
 * task store cannot store webhooks.
 */
export function assemblePushService(
  options: PushOptions | false,
  store: ServerStore,
  observer: Observer,
  createTransport: (guard: WebhookUrlGuard, options: PushTransportOptions) => PushTransport,
): PushService | undefined {
  const { pushStore } = store;
  if (options === false || !pushStore) return undefined;
  const {
    signing,
    redactSecrets = false,
    challenge = false,
    timeoutMs = 15_000,
    retry,
    allowPrivate: _allowPrivate,
    allowedHosts: _allowedHosts,
    resolve: _resolve,
    ...limits
  } = options;
  const signer = signing && new PushSigner(signing);
  const transport = createTransport(new WebhookUrlGuard(options), {
    timeoutMs,
    challenge,
    sign: signer?.sign,
  });
  const outbox = new Outbox({
    store: store as ServerStore & { pushStore: PushStore },
    deliver: transport.deliver,
    observer,
    ...(retry ? { retry } : {}),
    limits,
  });
  return {
    ...createEnginePushOptions({
      outbox,
      store: pushStore,
      validateWebhook: transport.validateWebhook,
      redactSecrets,
    }),
    outbox,
    signer,
    close: async (graceMs) => {
      await outbox.close(graceMs);
      transport.close();
    },
  };
}
