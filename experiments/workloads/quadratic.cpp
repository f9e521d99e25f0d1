// Placeholder until its product lands.
