import { A2AError } from "../../protocol/index.ts";
import type { HttpRequest } from "../http-exchange.ts";

/**
 * An error for an HTTP method that a path does not support. The reply lists the allowed methods in `Allow`.
 */
export class MethodNotAllowedError extends A2AError {
  readonly allowedMethods: readonly string[];

  constructor({ path, method }: HttpRequest, allowedMethods: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `${path} does not accept ${method}; use ${allowedMethods.join(" or ")}.`);
    this.allowedMethods = allowedMethods;
  }
}

/** Throws `MethodNotAllowedError` when the method of a request is not among `allowedMethods`. */
export function assertMethod(request: HttpRequest, allowedMethods: readonly string[]): void {
  if (!allowedMethods.includes(request.method)) throw new MethodNotAllowedError(request, allowedMethods);
}
