import type { RoleModel } from "../role-model.ts";
import { untilAborted } from "../../../client/index.ts";

/** Wraps models, so that all wrapped models together have a limited number of requests in flight. */
export type RequestLimit = (model: RoleModel) => RoleModel;

/**
 * Creates a limit for the number of requests that are in flight at the same time. Further requests wait in
 * order. A request whose signal aborts while it waits is not sent.
 */
export function createRequestLimit(maxRequestsInFlight: number): RequestLimit {
  let free = maxRequestsInFlight;
  const waiting: (() => void)[] = [];
  const acquire = async (signal: AbortSignal): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    await untilAborted(turn.promise, signal).catch((reason: unknown) => {
      const position = waiting.indexOf(turn.resolve);
      // If the turn has already come, the request passes it on.
      if (position >= 0) waiting.splice(position, 1);
      else release();
      throw reason;
    });
  };
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return (model) => ({
    id: model.id,
    evidenceKind: model.evidenceKind,
    async complete(request) {
      await acquire(request.signal);
      try {
        return await model.complete(request);
      } finally {
        release();
      }
    },
  });
}
