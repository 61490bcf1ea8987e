import type { Guard } from "./guard.ts";

/** Guards of push notifications. */
export const PUSH_GUARDS: readonly Guard[] = [
  {
    name: "push-owner-share",
    file: "src/webhooks/fair-scheduler.ts",
    find: "if (this.#hasUsedUpShare(owner)) {",
    replace: 'if (owner === "none" && this.#hasUsedUpShare(owner)) {',
    noticedBy: { attack: "push-silent-receivers" },
  },
  {
    name: "push-host-rate",
    file: "src/webhooks/delivery-slots.ts",
    find: "this.#hostRates.findDelay(removePort(host), this.#clock.monotonic());",
    replace: "0 * this.#hostRates.findDelay(removePort(host), this.#clock.monotonic());",
    noticedBy: { attack: "push-amplification" },
  },
  {
    name: "push-configs-per-task",
    file: "src/webhooks/push-config-operations.ts",
    find: "> maxConfigsPerTask)",
    replace: "> maxConfigsPerTask + 1e9)",
    noticedBy: { attack: "push-amplification" },
  },
  {
    name: "push-private-addresses",
    file: "src/server/push/webhook-url-guard.ts",
    find: "if (addresses.every(isPublicAddress) || this.#isPrivateAllowed(host, addresses)) return undefined;",
    replace: "if (addresses.length > 0) return undefined;",
    noticedBy: { attack: "push-private-address" },
  },
  {
    name: "push-secrets-sealed",
    file: "src/stores/sqlite/push-table.ts",
    find: "JSON.stringify(tables.cipher.seal(config, task))",
    replace: "JSON.stringify(config)",
    noticedBy: { attack: "push-secrets-at-rest" },
  },
];
