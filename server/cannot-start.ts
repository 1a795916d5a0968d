/** Why the server or a tool cannot start, as a sentence for the operator: it is printed without a stack. */
export class CannotStart extends Error {}
