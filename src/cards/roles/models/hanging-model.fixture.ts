import type { RoleModel } from "../role-model.ts";

/** Creates a model that never answers, and stops when its request is aborted. */
export function createHangingModel(): RoleModel {
  return {
    id: "slow",
    evidenceKind: "simulated",
    complete: ({ signal }) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
  };
}
