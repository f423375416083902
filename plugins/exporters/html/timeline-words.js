// SPDX-License-Identifier: Apache-2.0
// Times and labels of timelines as people read them.
const timelineWords = (function () {
"use strict";

function group(digits) {
    return digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// Of a BigInt or a whole number.
function microseconds(ns) {
    const text = String(ns).replace("-", "").padStart(4, "0");
    return (ns < 0 ? "\u2212" : "") + group(text.slice(0, -3)) + "." + text.slice(-3) + "\u202fµs";
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// 1, 2 or 5 times a power of ten that is at least ns.
function axisStep(ns) {
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(ns, 1))));
    for (const factor of [1, 2, 5, 10])
        if (power * factor >= ns)
            return power * factor;
    return 10 * power;
}

function axisLabel(ns, step) {
    const [unit, name] = UNITS.find(([u]) => u <= Math.max(Math.abs(ns), step) && u <= step * 1000);
    const decimals = Math.max(0, Math.round(Math.log10(unit) - Math.floor(Math.log10(step))));
    return (ns / unit).toFixed(decimals).replace("-", "\u2212") + "\u202f" + name;
}

function make(tag, cls, parent, text) {
    const element = document.createElement(tag);
    if (cls)
        element.className = cls;
    if (text !== undefined)
        element.textContent = text;
    if (parent)
        parent.appendChild(element);
    return element;
}

function makeButton(parent, text, act) {
    const b = make("button", "", parent, text);
    b.type = "button";
    b.onclick = act;
    return b;
}

// Attributes for those who can't see the page.
function aria(element, attributes) {
    for (const name in attributes)
        element.setAttribute(name === "role" ? name : "aria-" + name, attributes[name]);
}

return {microseconds, axisStep, axisLabel, make, makeButton, aria};
})();
