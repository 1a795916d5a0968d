/** A mouse that moves further than this, in pixels, has left the control on purpose. */
const slack = 8;

/** What a click presses. Not where text is typed: a press begins a selection there. */
const controls = 'a, button, label, [role=combobox], [type=checkbox], tr[data-opens]';

/**
 * Keeps a press of the mouse with its control while the page moves below it: leaving a field may show its error, which
 * moves the control away before the mouse is released, and the click would be lost.
 */
export function keepPresses(): void {
  let pressed: { control: Element; at: PointerEvent } | undefined;
  document.addEventListener('pointerdown', (event) => {
    const control = event.target instanceof Element ? event.target.closest(controls) : null;
    pressed = undefined;
    if (!control || event.pointerType !== 'mouse' || event.button !== 0) return;
    control.setPointerCapture(event.pointerId);
    pressed = { control, at: event };
  });
  document.addEventListener('pointermove', (event) => {
    if (!pressed) return;
    const { control, at } = pressed;
    if (Math.hypot(event.clientX - at.clientX, event.clientY - at.clientY) <= slack) return;
    pressed = undefined;
    if (control.hasPointerCapture(event.pointerId)) control.releasePointerCapture(event.pointerId);
  });
}
