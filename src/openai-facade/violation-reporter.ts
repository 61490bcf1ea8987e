/** Records a violation of one field of a request. */
export type ViolationReporter = (field: string, description: string) => undefined;
