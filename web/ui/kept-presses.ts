/** A mouse that moves further than this, in pixels, has left the button on purpose. */
const slack = 8;

/**
 * Keeps a press of the mouse with its button while the page moves below it: leaving a field may show its error, which
 * moves the button away before the mouse is released, and the click would be lost.
 */
export function keepPresses(): void {
  let pressed: { button: Element; at: PointerEvent } | undefined;
  document.addEventListener('pointerdown', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    pressed = undefined;
    if (!button || event.pointerType !== 'mouse' || event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    pressed = { button, at: event };
  });
  document.addEventListener('pointermove', (event) => {
    if (!pressed) return;
    const { button, at } = pressed;
    if (Math.hypot(event.clientX - at.clientX, event.clientY - at.clientY) <= slack) return;
    pressed = undefined;
    if (button.hasPointerCapture(event.pointerId)) button.releasePointerCapture(event.pointerId);
  });
}
